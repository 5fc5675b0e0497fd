"""Times sdy-opt, side by side with the C++ passes where those can be imported."""

"""sdy-user-priority-propagate: spread shardings, those first to which users gave a higher priority.

    %a is sharded [{"x"}p1, {}], %b is sharded [{}, {"x"}]

Dimension shardings have priorities `p0` (the highest, and what is meant if nothing is said), `p1`, `p2`
and so on. For each of them in turn `sdy-op-priority-propagate` runs, with all that has a lower priority
not sharded yet. So in a sum of %a and %b axis x goes to the second dimension, though %a stands first.

With `module-dump-directory` the program is written there after each priority but the last, as
`00.propagation_after_user_priority_0.mlir` and so on.
"""

from __future__ import annotations

from sdyopt.registry import register

from ..common.support.save_module import SaveModuleOp
from .basic_propagate import Propagation
from .engine.user_priorities import UserPriorities
from .op_priority_propagate import OpPriorityPropagation


@register("sdy-user-priority-propagate")
class UserPriorityPropagation(OpPriorityPropagation):
    # With which number the names of written programs start; pipelines count.
    dump_index: int = 0

    def propagate(self, propagation: Propagation) -> None:
        priorities = UserPriorities(propagation.module, propagation.rewriter)
        super().propagate(propagation)
        done = 0
        for priority in priorities:
            self._save(propagation, done)
            priorities.restore(priority, propagation.driver)
            super().propagate(propagation)
            done = priority

    def _save(self, propagation: Propagation, done: int) -> None:
        if self.module_dump_directory:
            propagation.write(with_rules=True)
            file_name = f"propagation_after_user_priority_{done}"
            saving = SaveModuleOp(
                directory=self.module_dump_directory, file_name=file_name, index=self.dump_index
            )
            saving.run(propagation.module)

"""sdy-user-priority-propagate: propagate shardings in order of user priority.

    %a is sharded [{"x"}p1, {}], %b is sharded [{}, {"x"}]

Dimension shardings have priorities `p0` (the highest, and the default), `p1`, `p2` and so on. For each of
these, from `p0` on, `sdy-op-priority-propagate` runs without the dimension shardings of lower priority. In a
sum of %a and %b, axis x thus shards the second dimension of the result, although %a is the first operand.

With `module-dump-directory`, the module is written to that directory after each priority but the last, as
`00.propagation_after_user_priority_0.mlir` and so on.
"""

from __future__ import annotations

from functools import partial

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.ops import ShardingGroupOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.registry import register

from ..common.support.save_module import SaveModule
from .basic_propagate import Propagation
from .engine.repropagation import DriverRepropagation
from .engine.user_priorities import UserPriorities
from .op_priority_propagate import OpPriorityPropagation


@register("sdy-user-priority-propagate")
class UserPriorityPropagation(OpPriorityPropagation):
    # The number at the start of the names of dumped files. Not an option: the pipeline sets it.
    dump_index: int = 0

    @property
    def writes_files(self) -> bool:
        return bool(self.module_dump_directory)

    def propagate(self, propagation: Propagation) -> None:
        priorities = UserPriorities(propagation.module, propagation.rewriter)
        super().propagate(propagation)
        last_priority = 0
        for priority in priorities:
            self._dump(propagation, last_priority)
            priorities.restore(priority, propagation.driver)
            super().propagate(propagation)
            last_priority = priority

    def repropagation(self, module: ModuleOp) -> DriverRepropagation | None:
        """Propagates a program so that it can propagate again; None if it has user priorities or groups."""
        rewriter = Rewriter()
        propagation = Propagation(module, rewriter, self.conservative_propagation)
        if any(UserPriorities(module, rewriter)) or any(module.nested(ShardingGroupOp)):
            return None
        return DriverRepropagation(propagation.driver, partial(super().propagate, propagation))

    def _dump(self, propagation: Propagation, priority: int) -> None:
        if self.module_dump_directory:
            propagation.write(with_rules=True)
            file_name = f"propagation_after_user_priority_{priority}"
            save_module = SaveModule(
                directory=self.module_dump_directory, file_name=file_name, index=self.dump_index
            )
            save_module.run(propagation.module)

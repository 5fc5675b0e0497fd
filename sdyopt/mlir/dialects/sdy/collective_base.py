"""The base class of sdy's collectives."""

from __future__ import annotations

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.printer.attribute_printer import plain_attribute
from sdyopt.mlir.dialects.sdy.assembly_directives import ANY_SHAPED, SHARDING_ATTR
from sdyopt.mlir.dialects.sdy.interfaces import ShardingOwner
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.ops import operand_type
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_checks import check_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.op_fields import attr, operand, result


class CollectiveOp(ShardingOwner):
    """A collective. Its verifier compares `out_sharding` with the sharding of the operand."""

    __slots__ = ()

    tensor = operand(ANY_SHAPED)
    out_sharding = attr(SHARDING_ATTR)
    output = result(ANY_SHAPED)

    # Whether an operand without a sharding counts as fully replicated.
    allows_missing_sharding = False
    # Whether the result may have another mesh than the operand.
    allows_different_meshes = False
    # The verifier reads the operand's sharding, which another operation may store, such as an enclosing loop.
    has_nonlocal_verifier = True

    infer_result_types = staticmethod(operand_type)

    def verify_in_context(self) -> None:
        """Checks the result's sharding, and that the operand has a sharding with the same mesh and rank.

        A subclass may allow an operand without a sharding, or with another mesh.
        """
        operand = sharding_of(self.tensor)
        if operand is None and not self.allows_missing_sharding:
            raise self.op_error("collective on operand without sharding")
        mesh = check_sharding(self, self.out_sharding, self.signature.result_types[0], self.op_error)
        if operand is None:
            return
        if not self.allows_different_meshes:
            operand_mesh = mesh_of(operand, self)
            if operand_mesh is not None and operand_mesh is not mesh:
                raise self.mesh_error("result mesh does not match operand mesh", operand_mesh)
        if self.out_sharding.rank != operand.rank:
            raise self.op_error(
                f"result sharding has rank {self.out_sharding.rank} but operand sharding has rank "
                f"{operand.rank}"
            )

    def result_sharding(self, index: int) -> TensorSharding:
        return self.out_sharding

    @property
    def mesh(self) -> Mesh:
        """The mesh of the result's sharding, which must exist."""
        mesh = mesh_of(self.out_sharding, self)
        assert mesh is not None
        return mesh

    @property
    def operand_sharding(self) -> TensorSharding:
        """The sharding of the operand, which must have one."""
        sharding = sharding_of(self.tensor)
        assert sharding is not None
        return sharding

    def mesh_error(self, message: str, operand_mesh: Mesh) -> DiagnosticError:
        """An error with a note that shows the mesh of the operand."""
        return self.op_error(message).note(
            f"operand mesh: {plain_attribute(operand_mesh)}", self.tensor.location
        )

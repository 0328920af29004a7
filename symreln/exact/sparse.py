from symreln.exact.matrix import ExactMatrix as SparseMatrix

import type { Operation, OperationGroup } from "../operations/api.ts"

/** The operations that contain every word of the query; groups without a match are left out. */
export function filterGroups(
  groups: readonly OperationGroup[],
  query: string,
): readonly OperationGroup[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return groups
  return groups
    .map((group) => ({
      ...group,
      operations: group.operations.filter((operation) => containsAll(operation, words)),
    }))
    .filter((group) => group.operations.length > 0)
}

function containsAll(operation: Operation, words: readonly string[]): boolean {
  const { method, path, id, title, tag, summary, scope = "" } = operation
  const text = [method, path, id, title, tag, summary, scope].join("\n").toLowerCase()
  return words.every((word) => text.includes(word))
}

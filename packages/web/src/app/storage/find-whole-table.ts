/** A table that a statement changes as a whole, because it is a delete or an update without a where. */
export function findWholeTable(sql: string): string | undefined {
  for (const statement of withoutTexts(sql).split(";")) {
    const [, deleted, updated] =
      /^\s*(?:with\b[\s\S]*?)?\b(?:delete\s+from\s+(\S+)|update\s+(?:or\s+\w+\s+)?(\S+)\s+set)\b/i.exec(
        statement,
      ) ?? []
    const table = deleted ?? updated
    if (table !== undefined && !/\bwhere\b/i.test(statement)) return table
  }
  return undefined
}

/** Without texts and comments, which may contain any word. Quoted names stay. */
function withoutTexts(sql: string): string {
  return sql.replaceAll(/'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\//g, " ")
}

/** A node of `explain (format json)`, with the fields that are looked at. */
export interface PostgresPlan {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Index Cond"?: string
  readonly "Parent Relationship"?: string
  readonly "Plan Rows": number
  readonly "Total Cost": number
  readonly Plans?: readonly PostgresPlan[]
}

/** The columns of each unique index, by its name. */
export type UniqueIndexes = ReadonlyMap<string, readonly string[]>

/**
 * Tables that stay small whatever people do: `run_purges` is a queue that is empty most of the
 * time, nodes are few, and so are open invitations.
 */
const smallTables = new Set([
  "settings",
  "schema_migrations",
  "schema_compatibility",
  "run_purges",
  "nodes",
  "invitations",
])

/** Nodes that hand on each row as it comes, so that a limit above them stops what is below. */
const streamingNodes = new Set([
  "Nested Loop",
  "Subquery Scan",
  "Append",
  "Merge Append",
  "LockRows",
  "Result",
  "Memoize",
])

/** Nodes that take in all of their input before they give the first row. */
const gatheringNodes = new Set([
  "Sort",
  "Incremental Sort",
  "Aggregate",
  "Hash",
  "Unique",
  "Materialize",
  "WindowAgg",
  "SetOp",
])

/**
 * With the values in sight, PostgreSQL may gather what it expects to be fewer rows than this: it
 * takes a moment, and for more it does not.
 */
const expectedRowsMax = 2_500

/**
 * What is wrong with a plan of PostgreSQL's: whole tables or indexes read, and sorts of what
 * nothing bounds.
 */
export function findPostgresFaults(root: PostgresPlan, unique: UniqueIndexes): readonly string[] {
  const isForAllValues = JSON.stringify(root).includes("$")
  const isExpectedSmall = (node: PostgresPlan) =>
    !isForAllValues && node["Plan Rows"] <= expectedRowsMax
  const isSmall = (node: PostgresPlan) => isBounded(node, unique) || isExpectedSmall(node)
  const faults: string[] = []
  const visit = (node: PostgresPlan, parent: PostgresPlan | undefined, isTruncated: boolean) => {
    if (isWholeTable(node)) faults.push(describe(node))
    if (
      isWholeIndex(node) &&
      !isTruncated &&
      !(parent?.["Node Type"] === "BitmapAnd" && isExpectedSmall(node))
    )
      faults.push(describe(node))
    if (gatheringNodes.has(node["Node Type"]) && !(node.Plans ?? []).every(isSmall))
      faults.push(describe(node))
    if (isRepeatedWhole(node)) faults.push(`${describe(node)} for each row`)
    for (const child of node.Plans ?? []) visit(child, node, isCutBelow(node, child, isTruncated))
  }
  visit(root, undefined, false)
  return faults
}

function isWholeTable(node: PostgresPlan): boolean {
  return node["Node Type"] === "Seq Scan" && !smallTables.has(node["Relation Name"] ?? "")
}

function isWholeIndex(node: PostgresPlan): boolean {
  return (
    /^(Bitmap )?Index( Only)? Scan$/.test(node["Node Type"]) &&
    node["Index Cond"] === undefined &&
    !smallTables.has(node["Relation Name"] ?? "")
  )
}

/** A list of several rows that is gone through again for each row of another one. */
function isRepeatedWhole(node: PostgresPlan): boolean {
  if (node["Parent Relationship"] !== "Inner") return false
  let inner: PostgresPlan | undefined = node
  while (inner && /^(Materialize|Memoize|Subquery Scan)$/.test(inner["Node Type"]))
    inner = inner.Plans?.[0]
  return inner?.["Node Type"] === "Limit" && inner["Plan Rows"] > 1
}

/**
 * Whether a limit further up ends the child as soon as there are enough rows. What a loop has
 * inside runs to its end for each row.
 */
function isCutBelow(node: PostgresPlan, child: PostgresPlan, isTruncated: boolean): boolean {
  if (node["Node Type"] === "Limit") return true
  return (
    isTruncated && streamingNodes.has(node["Node Type"]) && child["Parent Relationship"] !== "Inner"
  )
}

/** Whether the node gives only so many rows, however large the tables get. */
function isBounded(node: PostgresPlan, unique: UniqueIndexes): boolean {
  if (node["Node Type"] === "Limit" || smallTables.has(node["Relation Name"] ?? "")) return true
  if (/ Scan$/.test(node["Node Type"]) && node["Node Type"] !== "Subquery Scan")
    return isLookup(node, unique)
  return (node.Plans ?? []).every((child) => isBounded(child, unique))
}

/** One row, or one for each key in a list: every column of a unique index is asked for. */
function isLookup(node: PostgresPlan, unique: UniqueIndexes): boolean {
  if (/^(Values|Function) Scan$/.test(node["Node Type"])) return true
  const bitmap = node["Node Type"] === "Bitmap Heap Scan" ? node.Plans?.[0] : node
  const columns = unique.get(bitmap?.["Index Name"] ?? "")
  const condition = bitmap?.["Index Cond"] ?? ""
  // A list of runs with a filter looks at a window: it has found the last of 2,000 runs before.
  if (/ROW\(started_at, id\) >= ROW\(/.test(condition)) return true
  return columns?.every((column) => new RegExp(`\\(${column} = `).test(condition)) ?? false
}

function describe(node: PostgresPlan): string {
  const on = node["Relation Name"] === undefined ? "" : ` on ${node["Relation Name"]}`
  const index = node["Index Name"] === undefined ? "" : ` using ${node["Index Name"]}`
  return `${node["Node Type"]}${index}${on}`
}

/** How a table gets into a backup, and out of it again. */
export type Treatment =
  /** Its rows, all of their columns; with a condition, those for which it holds. */
  | { readonly kind: "rows"; readonly where?: string }
  /** The objects that blobs name: each with its bytes, wherever they are kept. */
  | { readonly kind: "objects" }
  /** Not at all, for the reason given. */
  | { readonly kind: "none"; readonly why: string }

/**
 * What becomes of every table there is: a test compares this with the schema, so that a new table
 * cannot be forgotten. Those that are in a backup stand in an order in which a row comes after
 * those it refers to.
 */
export const backupTables: Readonly<Record<string, Treatment>> = {
  settings: { kind: "rows" },
  users: { kind: "rows" },
  // Those of processes end with their node, which is not there any more, and with them what came
  // from them.
  tokens: {
    kind: "rows",
    where:
      "node_id is null and not exists (select 1 from tokens parent where parent.id = tokens.parent_id and parent.node_id is not null)",
  },
  secrets: { kind: "rows" },
  invitations: { kind: "rows" },
  audit_entries: { kind: "rows" },
  vals: { kind: "rows" },
  versions: { kind: "rows" },
  imports: { kind: "rows" },
  dependencies: { kind: "rows" },
  likes: { kind: "rows" },
  comments: { kind: "rows" },
  bundles: { kind: "rows" },
  locks: { kind: "rows" },
  // Those that are open are on nodes that no one knows: the first server that starts on them takes
  // them for crashed.
  runs: { kind: "rows" },
  run_purges: { kind: "rows" },
  objects: { kind: "objects" },
  object_chunks: { kind: "none", why: "they come with their objects" },
  blobs: { kind: "rows" },
  search_texts: { kind: "none", why: "they are made anew of vals and versions" },
  idempotency_keys: {
    kind: "none",
    why: "they end after a day, and are for clients that ask the same server again",
  },
  nodes: { kind: "none", why: "a node is a process" },
  schema_migrations: { kind: "none", why: "the header says when each was applied" },
}

/** The section with the databases of users, which are no tables. */
export const ownerDatabases = "owner_databases"

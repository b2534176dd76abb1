/** How a table is backed up and restored. */
export type Treatment =
  /** Its rows with all columns; with `where`, only those that match. */
  | { readonly kind: "rows"; readonly where?: string }
  /** What blobs and received mail refer to, each with its bytes, from the database or the bucket. */
  | { readonly kind: "objects" }
  /** Not in a backup, for the given reason. */
  | { readonly kind: "none"; readonly why: string }

/**
 * The treatment of every table. A test compares this with the schema, so that a new table cannot be
 * forgotten. The tables are in an order in which a row comes after the rows it refers to.
 */
export const backupTables: Readonly<Record<string, Treatment>> = {
  settings: { kind: "rows" },
  users: { kind: "rows" },
  memberships: { kind: "rows" },
  oauth_clients: { kind: "rows" },
  authorizations: { kind: "rows" },
  oauth_codes: { kind: "none", why: "they expire after two minutes" },
  oauth_devices: { kind: "none", why: "they expire after ten minutes" },
  refresh_tokens: { kind: "rows" },
  // The tokens of processes end with their node, which a restored server does not have, and so do
  // the sessions and links of these tokens.
  tokens: {
    kind: "rows",
    where:
      "node_id is null and not exists (select 1 from tokens parent where parent.id = tokens.parent_id and parent.node_id is not null)",
  },
  identities: { kind: "rows" },
  used_sign_ins: { kind: "none", why: "they expire after a quarter of an hour" },
  secrets: { kind: "rows" },
  email_codes: { kind: "none", why: "they expire after an hour" },
  // Emails that wait have failed on the restored server: the other one may have sent them
  // meanwhile.
  emails: { kind: "rows" },
  email_contents: { kind: "rows" },
  invitations: { kind: "rows" },
  audit_entries: { kind: "rows" },
  vals: { kind: "rows" },
  val_secrets: { kind: "rows" },
  branches: { kind: "rows" },
  versions: { kind: "rows" },
  files: { kind: "rows" },
  states: { kind: "rows" },
  imports: { kind: "rows" },
  dependencies: { kind: "rows" },
  likes: { kind: "rows" },
  comments: { kind: "rows" },
  notifications: { kind: "rows" },
  webhooks: { kind: "rows" },
  webhook_deliveries: {
    kind: "none",
    why: "a restored server must not send again what the original has sent",
  },
  bundles: { kind: "rows" },
  bundle_files: { kind: "rows" },
  bundle_types: { kind: "rows" },
  locks: { kind: "rows" },
  // Runs that were started belong to nodes that a restored server does not have: the first server
  // that starts marks them as crashed. It runs those that waited in the queue.
  runs: { kind: "rows" },
  run_responses: { kind: "rows" },
  // A due time that passed before the restore was missed: `catch_up` says what happens.
  schedules: { kind: "rows" },
  run_purges: { kind: "rows" },
  objects: { kind: "objects" },
  object_chunks: { kind: "none", why: "they are part of their objects" },
  blobs: { kind: "rows" },
  val_blobs: { kind: "rows" },
  val_purges: { kind: "rows" },
  incoming_mails: { kind: "rows" },
  mail_contents: { kind: "rows" },
  mail_keys: {
    kind: "none",
    why: "they expire after a day, and serve clients that retry on the same server",
  },
  search_texts: { kind: "none", why: "they are built again from vals and their files" },
  search_backlog: { kind: "none", why: "it is built again with the search texts" },
  idempotency_keys: {
    kind: "none",
    why: "they expire after a day, and serve clients that retry on the same server",
  },
  nodes: { kind: "none", why: "a node is a process" },
  budgets: { kind: "none", why: "they say what was used in the last minutes" },
  schema_migrations: { kind: "none", why: "the header contains when each was applied" },
  schema_compatibility: { kind: "none", why: "nodes of an older release run on no restored data" },
}

/** The section with the databases of users and of vals, which are files, not tables. */
export const ownerDatabases = "owner_databases"

import type { Leaf, Verbs } from "./command.ts"

/** A noun with its verbs. */
export interface Group {
  readonly summary: string
  readonly loadVerbs: () => Promise<{ readonly verbs: Verbs }>
  /** The command that runs without a verb. */
  readonly defaultVerb?: Leaf
}

/**
 * All commands. A path in the tree is a path in `commands/`: the verbs of a noun are in
 * `<noun>/verbs.ts`, or beside it in `<noun>/<verb>.ts`.
 */
export const tree: Readonly<Record<string, Leaf | Group>> = {
  serve: { summary: "Start a server", load: () => import("./commands/serve.ts") },
  doctor: {
    summary: "Check this machine and the server for problems",
    load: () => import("./commands/doctor.ts"),
  },
  backup: {
    summary: "Back up the whole server to a file",
    load: () => import("./commands/backup.ts"),
  },
  restore: {
    summary: "Restore a server from a backup",
    load: () => import("./commands/restore.ts"),
  },
  login: {
    summary: "Sign in to a server, with a browser or a token",
    load: () => import("./commands/login.ts"),
  },
  join: { summary: "Accept an invitation and sign in", load: () => import("./commands/join.ts") },
  open: {
    summary: "Open the web app in your browser, signed in",
    load: () => import("./commands/open.ts"),
  },
  mcp: {
    summary: "Offer the tools of the server to an assistant on this machine",
    load: () => import("./commands/mcp/mcp.ts"),
  },
  whoami: {
    summary: "Show the signed-in user and server",
    load: () => import("./commands/whoami.ts"),
  },
  usage: { summary: "Show your usage and limits", load: () => import("./commands/usage.ts") },
  server: {
    summary: "Manage the servers you are signed in to",
    loadVerbs: () => import("./commands/server/verbs.ts"),
  },
  val: {
    summary: "Create, find, change and share vals",
    loadVerbs: () => import("./commands/val/verbs.ts"),
  },
  branch: {
    summary: "Manage the branches of a val",
    loadVerbs: () => import("./commands/branch/verbs.ts"),
  },
  file: {
    summary: "Manage the files of a val",
    loadVerbs: () => import("./commands/file/verbs.ts"),
  },
  version: {
    summary: "Manage the versions of a val",
    loadVerbs: () => import("./commands/version/verbs.ts"),
  },
  run: {
    summary: "Run a val, and manage runs",
    loadVerbs: () => import("./commands/run/verbs.ts"),
    defaultVerb: {
      summary: "Run a val and print its return value",
      load: () => import("./commands/run/val.ts"),
    },
  },
  eval: { summary: "Run code once without saving it", load: () => import("./commands/eval.ts") },
  logs: { summary: "Show and follow logs of all runs", load: () => import("./commands/logs.ts") },
  schedule: {
    summary: "Run vals at certain times",
    loadVerbs: () => import("./commands/schedule/verbs.ts"),
  },
  secret: {
    summary: "Manage secrets, the environment variables of your vals",
    loadVerbs: () => import("./commands/secret/verbs.ts"),
  },
  env: {
    summary: "Manage the environment variables of one val",
    loadVerbs: () => import("./commands/env/verbs.ts"),
  },
  webhook: {
    summary: "Send events of your vals to URLs, or to other vals",
    loadVerbs: () => import("./commands/webhook/verbs.ts"),
  },
  notification: {
    summary: "See what happened to your vals",
    loadVerbs: () => import("./commands/notification/verbs.ts"),
  },
  blob: {
    summary: "Manage the blobs of your vals",
    loadVerbs: () => import("./commands/blob/verbs.ts"),
  },
  sql: {
    summary: "Run a SQL statement in your SQLite database",
    load: () => import("./commands/sql.ts"),
  },
  session: {
    summary: "Manage your browser sessions",
    loadVerbs: () => import("./commands/session/verbs.ts"),
  },
  identity: {
    summary: "Manage the accounts of the sign-in provider that sign you in",
    loadVerbs: () => import("./commands/identity/verbs.ts"),
  },
  mail: {
    summary: "Show, send and receive the mail of your vals",
    loadVerbs: () => import("./commands/mail/verbs.ts"),
  },
  token: {
    summary: "Manage your API tokens",
    loadVerbs: () => import("./commands/token/verbs.ts"),
  },
  user: {
    summary: "Manage users, for administrators",
    loadVerbs: () => import("./commands/user/verbs.ts"),
  },
  invite: {
    summary: "Manage invitations, for administrators",
    loadVerbs: () => import("./commands/invite/verbs.ts"),
  },
  org: {
    summary: "Manage organisations and the people in them",
    loadVerbs: () => import("./commands/org/verbs.ts"),
  },
  node: {
    summary: "Show the nodes of the installation, for administrators",
    loadVerbs: () => import("./commands/node/verbs.ts"),
  },
  audit: { summary: "Show the audit log", load: () => import("./commands/audit.ts") },
  ref: {
    summary: "Show which vals import which",
    loadVerbs: () => import("./commands/ref/verbs.ts"),
  },
  export: {
    summary: "Export vals with all their versions to an archive",
    load: () => import("./commands/export.ts"),
  },
  import: {
    summary: "Import vals from an archive or a folder",
    load: () => import("./commands/import.ts"),
  },
  completion: {
    summary: "Print a shell completion script",
    load: () => import("./commands/completion/completion.ts"),
  },
  __complete: {
    summary: "List completions",
    load: () => import("./commands/completion/complete.ts"),
    isHidden: true,
  },
}

/** Whether a node of the tree has verbs. */
export function isGroup(node: Leaf | Group): node is Group {
  return "loadVerbs" in node
}

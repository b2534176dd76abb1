import type { CommandDefinition } from "./command.ts"

/** A command that is not loaded yet. */
export interface Leaf {
  readonly summary: string
  /**
   * Imports the command. Only the one that runs is imported: loading all of them would take longer
   * than most of them run.
   */
  readonly load: () => Promise<{ readonly command: CommandDefinition }>
  /** Not shown in help. */
  readonly isHidden?: true
}

/** A noun with its verbs. */
export interface Group {
  readonly summary: string
  readonly verbs: Readonly<Record<string, Leaf>>
  /** The command that runs without a verb. */
  readonly defaultVerb?: Leaf
}

/** All commands. A path in the tree is a path in `commands/`. */
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
  login: { summary: "Sign in to a server with a token", load: () => import("./commands/login.ts") },
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
    verbs: {
      list: { summary: "List servers", load: () => import("./commands/server/list.ts") },
      use: { summary: "Select the current server", load: () => import("./commands/server/use.ts") },
      rm: { summary: "Sign out of a server", load: () => import("./commands/server/rm.ts") },
    },
  },
  val: {
    summary: "Create, find, change and share vals",
    verbs: {
      list: { summary: "List vals", load: () => import("./commands/val/list.ts") },
      new: { summary: "Create a val", load: () => import("./commands/val/new.ts") },
      show: { summary: "Show a val", load: () => import("./commands/val/show.ts") },
      edit: { summary: "Edit a val in your editor", load: () => import("./commands/val/edit.ts") },
      fmt: { summary: "Format vals or files", load: () => import("./commands/val/files/fmt.ts") },
      push: { summary: "Save files as vals", load: () => import("./commands/val/files/push.ts") },
      pull: {
        summary: "Download vals into files",
        load: () => import("./commands/val/files/pull.ts"),
      },
      clone: {
        summary: "Download all vals of a user into a folder",
        load: () => import("./commands/val/files/clone.ts"),
      },
      watch: {
        summary: "Keep a folder and your vals in sync",
        load: () => import("./commands/val/files/watch.ts"),
      },
      rename: { summary: "Rename a val", load: () => import("./commands/val/rename.ts") },
      rm: { summary: "Delete vals", load: () => import("./commands/val/rm.ts") },
      open: { summary: "Open a val in the browser", load: () => import("./commands/val/open.ts") },
      preview: {
        summary: "Create a preview URL for a val",
        load: () => import("./commands/val/preview.ts"),
      },
      search: {
        summary: "Search vals by name, code or readme",
        load: () => import("./commands/val/search.ts"),
      },
      fork: { summary: "Copy a val", load: () => import("./commands/val/fork.ts") },
      forks: { summary: "List the forks of a val", load: () => import("./commands/val/forks.ts") },
      comments: {
        summary: "List the comments on a val",
        load: () => import("./commands/val/social/comments.ts"),
      },
      comment: {
        summary: "Comment on a val",
        load: () => import("./commands/val/social/comment.ts"),
      },
      like: { summary: "Like a val", load: () => import("./commands/val/social/like.ts") },
    },
  },
  version: {
    summary: "Manage the versions of a val",
    verbs: {
      list: {
        summary: "List the versions of a val",
        load: () => import("./commands/version/list.ts"),
      },
      show: {
        summary: "Show the code of a version",
        load: () => import("./commands/version/show.ts"),
      },
      diff: {
        summary: "Show the changes between two versions",
        load: () => import("./commands/version/diff.ts"),
      },
      restore: {
        summary: "Restore an old version",
        load: () => import("./commands/version/restore.ts"),
      },
      rm: { summary: "Delete a version", load: () => import("./commands/version/rm.ts") },
    },
  },
  run: {
    summary: "Run a val, and manage runs",
    defaultVerb: {
      summary: "Run a val and print its return value",
      load: () => import("./commands/run/val.ts"),
    },
    verbs: {
      list: { summary: "List runs", load: () => import("./commands/run/list.ts") },
      show: { summary: "Show a run", load: () => import("./commands/run/show.ts") },
      logs: { summary: "Show the logs of a run", load: () => import("./commands/run/logs.ts") },
      cancel: { summary: "Cancel a run", load: () => import("./commands/run/cancel.ts") },
      replay: {
        summary: "Run the same version again with the same input",
        load: () => import("./commands/run/replay.ts"),
      },
    },
  },
  eval: { summary: "Run code once without saving it", load: () => import("./commands/eval.ts") },
  logs: { summary: "Show and follow logs of all runs", load: () => import("./commands/logs.ts") },
  schedule: {
    summary: "Run vals at certain times",
    verbs: {
      set: { summary: "Set when a val runs", load: () => import("./commands/schedule/set.ts") },
      show: { summary: "Show a schedule", load: () => import("./commands/schedule/show.ts") },
      list: { summary: "List your schedules", load: () => import("./commands/schedule/list.ts") },
      pause: { summary: "Pause a schedule", load: () => import("./commands/schedule/pause.ts") },
      resume: {
        summary: "Resume a paused schedule",
        load: () => import("./commands/schedule/resume.ts"),
      },
      rm: { summary: "Delete a schedule", load: () => import("./commands/schedule/rm.ts") },
      preview: {
        summary: "Show when a schedule would run",
        load: () => import("./commands/schedule/preview.ts"),
      },
    },
  },
  secret: {
    summary: "Manage secrets, the environment variables of your vals",
    verbs: {
      set: { summary: "Set a secret", load: () => import("./commands/secret/set.ts") },
      list: { summary: "List your secrets", load: () => import("./commands/secret/list.ts") },
      rm: { summary: "Delete a secret", load: () => import("./commands/secret/rm.ts") },
    },
  },
  webhook: {
    summary: "Send events of your vals to URLs, or to other vals",
    verbs: {
      add: {
        summary: "Subscribe a URL or a val to events",
        load: () => import("./commands/webhook/add.ts"),
      },
      list: { summary: "List your webhooks", load: () => import("./commands/webhook/list.ts") },
      show: {
        summary: "Show a webhook or one of its deliveries",
        load: () => import("./commands/webhook/show.ts"),
      },
      test: { summary: "Send a test message", load: () => import("./commands/webhook/test.ts") },
      deliveries: {
        summary: "List what was sent to a webhook",
        load: () => import("./commands/webhook/deliveries.ts"),
      },
      redeliver: {
        summary: "Send a message again",
        load: () => import("./commands/webhook/redeliver.ts"),
      },
      pause: { summary: "Pause a webhook", load: () => import("./commands/webhook/pause.ts") },
      resume: {
        summary: "Resume a paused or disabled webhook",
        load: () => import("./commands/webhook/resume.ts"),
      },
      rotate: {
        summary: "Replace the secret of a webhook",
        load: () => import("./commands/webhook/rotate.ts"),
      },
      rm: { summary: "Delete a webhook", load: () => import("./commands/webhook/rm.ts") },
    },
  },
  notification: {
    summary: "See what happened to your vals",
    verbs: {
      list: {
        summary: "List your notifications",
        load: () => import("./commands/notification/list.ts"),
      },
      read: {
        summary: "Mark notifications as read",
        load: () => import("./commands/notification/read.ts"),
      },
    },
  },
  blob: {
    summary: "Manage the blobs of your vals",
    verbs: {
      list: { summary: "List your blobs", load: () => import("./commands/blob/list.ts") },
      get: { summary: "Download a blob", load: () => import("./commands/blob/get.ts") },
      put: { summary: "Upload a blob", load: () => import("./commands/blob/put.ts") },
      rm: { summary: "Delete blobs", load: () => import("./commands/blob/rm.ts") },
    },
  },
  sql: {
    summary: "Run a SQL statement in your SQLite database",
    load: () => import("./commands/sql.ts"),
  },
  session: {
    summary: "Manage your browser sessions",
    verbs: {
      list: { summary: "List sessions", load: () => import("./commands/session/list.ts") },
      revoke: {
        summary: "Sign out one browser or all of them",
        load: () => import("./commands/session/revoke.ts"),
      },
    },
  },
  identity: {
    summary: "Manage the accounts of the sign-in provider that sign you in",
    verbs: {
      list: { summary: "List linked accounts", load: () => import("./commands/identity/list.ts") },
      rm: { summary: "Unlink an account", load: () => import("./commands/identity/rm.ts") },
    },
  },
  mail: {
    summary: "Show, send and receive the mail of your vals",
    verbs: {
      address: {
        summary: "Print the mail address of a val",
        load: () => import("./commands/mail/address.ts"),
      },
      test: {
        summary: "Run a val as if a mail had come",
        load: () => import("./commands/mail/test.ts"),
      },
      list: { summary: "List outgoing emails", load: () => import("./commands/mail/list.ts") },
      resend: {
        summary: "Send a failed email again",
        load: () => import("./commands/mail/resend.ts"),
      },
      confirm: {
        summary: "Confirm your email address",
        load: () => import("./commands/mail/confirm.ts"),
      },
    },
  },
  token: {
    summary: "Manage your API tokens",
    verbs: {
      new: { summary: "Create a token", load: () => import("./commands/token/new.ts") },
      list: { summary: "List your tokens", load: () => import("./commands/token/list.ts") },
      revoke: { summary: "Revoke a token", load: () => import("./commands/token/revoke.ts") },
    },
  },
  user: {
    summary: "Manage users, for administrators",
    verbs: {
      add: {
        summary: "Create a user with a first token",
        load: () => import("./commands/user/add.ts"),
      },
      list: { summary: "List all users", load: () => import("./commands/user/list.ts") },
      show: { summary: "Show a user", load: () => import("./commands/user/show.ts") },
      token: {
        summary: "Create a token for a user",
        load: () => import("./commands/user/token.ts"),
      },
      usage: {
        summary: "Show the usage and limits of a user",
        load: () => import("./commands/user/usage.ts"),
      },
      email: {
        summary: "Set the email address of a user",
        load: () => import("./commands/user/email.ts"),
      },
      quota: {
        summary: "Show or set the quotas of a user",
        load: () => import("./commands/user/quota.ts"),
      },
      suspend: {
        summary: "Suspend a user and their vals",
        load: () => import("./commands/user/suspend.ts"),
      },
      unsuspend: {
        summary: "Lift a suspension",
        load: () => import("./commands/user/unsuspend.ts"),
      },
      rm: { summary: "Delete a user", load: () => import("./commands/user/rm.ts") },
    },
  },
  invite: {
    summary: "Manage invitations, for administrators",
    verbs: {
      new: { summary: "Create an invitation link", load: () => import("./commands/invite/new.ts") },
      list: { summary: "List open invitations", load: () => import("./commands/invite/list.ts") },
      revoke: {
        summary: "Revoke an invitation",
        load: () => import("./commands/invite/revoke.ts"),
      },
    },
  },
  audit: { summary: "Show the audit log", load: () => import("./commands/audit.ts") },
  ref: {
    summary: "Show which vals import which",
    verbs: {
      list: {
        summary: "List the vals that import your vals",
        load: () => import("./commands/ref/list.ts"),
      },
    },
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
  return "verbs" in node
}

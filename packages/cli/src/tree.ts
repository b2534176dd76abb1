import type { CommandDefinition } from "./command.ts"

/** A command that has not been read yet. */
export interface Leaf {
  readonly summary: string
  /**
   * Only the command that is asked for is imported: reading all of them would take longer than most
   * of them do.
   */
  readonly load: () => Promise<{ readonly command: CommandDefinition }>
  /** Not for people. */
  readonly isHidden?: true
}

/** A noun with its verbs. */
export interface Group {
  readonly summary: string
  readonly verbs: Readonly<Record<string, Leaf>>
  /** What is meant when no verb is named. */
  readonly defaultVerb?: Leaf
}

/** The commands there are. A path in it is a path in `commands/`. */
export const tree: Readonly<Record<string, Leaf | Group>> = {
  serve: { summary: "Start a server", load: () => import("./commands/serve.ts") },
  doctor: {
    summary: "Look at this machine and the server, and say what to mend",
    load: () => import("./commands/doctor.ts"),
  },
  backup: {
    summary: "Write everything that the server keeps into a file",
    load: () => import("./commands/backup.ts"),
  },
  restore: {
    summary: "Make the server of a backup again",
    load: () => import("./commands/restore.ts"),
  },
  login: { summary: "Sign in to a server with a token", load: () => import("./commands/login.ts") },
  join: { summary: "Accept an invitation, and sign in", load: () => import("./commands/join.ts") },
  open: {
    summary: "Open the web app in your browser, signed in",
    load: () => import("./commands/open.ts"),
  },
  whoami: {
    summary: "Say who is signed in, and where",
    load: () => import("./commands/whoami.ts"),
  },
  usage: { summary: "Say what you use of what you may", load: () => import("./commands/usage.ts") },
  server: {
    summary: "The servers that you are signed in to",
    verbs: {
      list: { summary: "List them", load: () => import("./commands/server/list.ts") },
      use: {
        summary: "Choose the one that commands go to",
        load: () => import("./commands/server/use.ts"),
      },
      rm: {
        summary: "Forget one, and the token for it",
        load: () => import("./commands/server/rm.ts"),
      },
    },
  },
  val: {
    summary: "Vals: write, find, change and share them",
    verbs: {
      list: {
        summary: "List vals, yours or somebody else's",
        load: () => import("./commands/val/list.ts"),
      },
      new: { summary: "Make a val", load: () => import("./commands/val/new.ts") },
      show: { summary: "Show a val", load: () => import("./commands/val/show.ts") },
      edit: {
        summary: "Change a val in your editor",
        load: () => import("./commands/val/edit.ts"),
      },
      push: { summary: "Save files as vals", load: () => import("./commands/val/push.ts") },
      pull: { summary: "Write vals into files", load: () => import("./commands/val/pull.ts") },
      clone: {
        summary: "Write all vals of a user into a folder",
        load: () => import("./commands/val/clone.ts"),
      },
      watch: {
        summary: "Keep a folder and your vals the same",
        load: () => import("./commands/val/watch.ts"),
      },
      rename: {
        summary: "Give a val another name",
        load: () => import("./commands/val/rename.ts"),
      },
      rm: {
        summary: "Delete vals with everything that belongs to them",
        load: () => import("./commands/val/rm.ts"),
      },
      open: { summary: "Open a val in the browser", load: () => import("./commands/val/open.ts") },
      preview: {
        summary: "Make an address at which a browser can look at a val",
        load: () => import("./commands/val/preview.ts"),
      },
      search: {
        summary: "Find vals by name, code or readme",
        load: () => import("./commands/val/search.ts"),
      },
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
    summary: "The versions of a val",
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
        summary: "Show what changed between two versions",
        load: () => import("./commands/version/diff.ts"),
      },
      restore: {
        summary: "Make the code of an old version the current one",
        load: () => import("./commands/version/restore.ts"),
      },
      rm: { summary: "Delete a version", load: () => import("./commands/version/rm.ts") },
    },
  },
  run: {
    summary: "Run a val, and look at runs",
    defaultVerb: {
      summary: "Run a val and print what it returns",
      load: () => import("./commands/run/val.ts"),
    },
    verbs: {
      list: {
        summary: "List runs, of all your vals or of one",
        load: () => import("./commands/run/list.ts"),
      },
      show: { summary: "Show a run", load: () => import("./commands/run/show.ts") },
      logs: { summary: "Show what a run has logged", load: () => import("./commands/run/logs.ts") },
      cancel: { summary: "End a run", load: () => import("./commands/run/cancel.ts") },
      replay: {
        summary: "Run the same version with the same input again",
        load: () => import("./commands/run/replay.ts"),
      },
    },
  },
  eval: { summary: "Run code once, without saving it", load: () => import("./commands/eval.ts") },
  logs: {
    summary: "Show and follow the logs of all runs",
    load: () => import("./commands/logs.ts"),
  },
  secret: {
    summary: "Secrets that your vals see as environment",
    verbs: {
      set: { summary: "Set a secret", load: () => import("./commands/secret/set.ts") },
      list: {
        summary: "List the names of your secrets",
        load: () => import("./commands/secret/list.ts"),
      },
      rm: { summary: "Delete a secret", load: () => import("./commands/secret/rm.ts") },
    },
  },
  blob: {
    summary: "Blobs that your vals keep",
    verbs: {
      list: { summary: "List your blobs", load: () => import("./commands/blob/list.ts") },
      get: {
        summary: "Write a blob to a file or to standard output",
        load: () => import("./commands/blob/get.ts"),
      },
      put: { summary: "Store a blob", load: () => import("./commands/blob/put.ts") },
      rm: { summary: "Delete blobs", load: () => import("./commands/blob/rm.ts") },
    },
  },
  sql: {
    summary: "Run a statement in your SQLite database",
    load: () => import("./commands/sql.ts"),
  },
  session: {
    summary: "Browsers in which you are signed in",
    verbs: {
      list: { summary: "List them", load: () => import("./commands/session/list.ts") },
      revoke: {
        summary: "Sign one of them out, or all",
        load: () => import("./commands/session/revoke.ts"),
      },
    },
  },
  token: {
    summary: "Tokens that act for you",
    verbs: {
      new: { summary: "Make a token", load: () => import("./commands/token/new.ts") },
      list: { summary: "List your tokens", load: () => import("./commands/token/list.ts") },
      revoke: {
        summary: "Make a token stop working",
        load: () => import("./commands/token/revoke.ts"),
      },
    },
  },
  user: {
    summary: "Users, for whoever administers the server",
    verbs: {
      add: {
        summary: "Add a user, with a first token",
        load: () => import("./commands/user/add.ts"),
      },
      list: { summary: "List all users", load: () => import("./commands/user/list.ts") },
      show: { summary: "Show a user", load: () => import("./commands/user/show.ts") },
      token: { summary: "Make a token for a user", load: () => import("./commands/user/token.ts") },
      usage: {
        summary: "Say what a user uses of what they may",
        load: () => import("./commands/user/usage.ts"),
      },
      quota: {
        summary: "Show or set the quotas of a user",
        load: () => import("./commands/user/quota.ts"),
      },
      suspend: {
        summary: "Refuse a user and their vals",
        load: () => import("./commands/user/suspend.ts"),
      },
      unsuspend: {
        summary: "Lift a suspension",
        load: () => import("./commands/user/unsuspend.ts"),
      },
      rm: {
        summary: "Delete a user, with or without their data",
        load: () => import("./commands/user/rm.ts"),
      },
    },
  },
  invite: {
    summary: "Invitations, for whoever administers the server",
    verbs: {
      new: {
        summary: "Make a link for one person",
        load: () => import("./commands/invite/new.ts"),
      },
      list: {
        summary: "List those that were not accepted yet",
        load: () => import("./commands/invite/list.ts"),
      },
      revoke: {
        summary: "Make a link stop working",
        load: () => import("./commands/invite/revoke.ts"),
      },
    },
  },
  audit: { summary: "Show what administrators did", load: () => import("./commands/audit.ts") },
  ref: {
    summary: "Who imports which vals",
    verbs: {
      list: {
        summary: "List the vals that import yours, or one val",
        load: () => import("./commands/ref/list.ts"),
      },
    },
  },
  export: {
    summary: "Write vals with all their versions into an archive",
    load: () => import("./commands/export.ts"),
  },
  import: {
    summary: "Make vals of an archive, or of a folder of files",
    load: () => import("./commands/import.ts"),
  },
  completion: {
    summary: "Print a script that completes commands in a shell",
    load: () => import("./commands/completion/completion.ts"),
  },
  __complete: {
    summary: "What could follow",
    load: () => import("./commands/completion/complete.ts"),
    isHidden: true,
  },
}

/** Whether a noun has verbs. */
export function isGroup(node: Leaf | Group): node is Group {
  return "verbs" in node
}

import type { Item, Output } from "@hamlet/contract/client"
import { scopes } from "@hamlet/contract/lists"
import { InvalidArgumentError } from "commander"
import { defineCommand, type Verbs } from "../../command.ts"
import { showUsage } from "../../output/usage-table.ts"
import { toFutureMoment } from "../../runs/since.ts"
import type { Connection } from "../../servers/connection.ts"
import { confirm, confirmOption, defineCall, defineList, listOptions } from "../../shapes.ts"

const takesUser = { "<user>": "username or id" } as const

export const verbs: Verbs = {
  add: defineCall({
    summary: "Create a user with a first token",
    description:
      "Prints the user's first token, once. It has all scopes except those for administration.",
    examples: [
      ["hamlet user add grace", "create a user"],
      ["hamlet user add grace --email grace@example.com > token.txt", "save the token to a file"],
    ],
    takes: { "<username>": "username", "--email <address>": "email address" },
    async call({ client }, { username, email }) {
      const user = await client.createUser({ username, email })
      return {
        json: user,
        plain: user.token,
        note: `This is the first token of ${user.username}. It will not be shown again`,
      }
    },
  }),
  list: defineList({
    summary: "List all users",
    description: "Newest users first.",
    examples: [["hamlet user list --all", "all users"]],
    takes: listOptions,
    items: ({ client }, _, page) => client.items("listUsers", page),
    empty: "No users",
    columns: [
      { title: "user", value: ({ username }) => username, paint: (colour) => colour.bold },
      { title: "email", value: ({ email }) => email },
      {
        title: "state",
        value: toState,
        paint: (colour, user) => (toState(user) === "active" ? colour.green : colour.yellow),
      },
      { title: "since", value: ({ createdAt }) => createdAt, isTime: true },
      { title: "id", value: ({ id }) => id, isWhole: true },
    ],
  }),
  show: defineCall({
    summary: "Show a user",
    examples: [["hamlet user show grace", "show an account and whether it is suspended"]],
    takes: takesUser,
    async call(session, { user }) {
      const { id } = await findUser(session, user)
      const account = await session.client.getUserAccount({ user_id: id })
      return {
        json: account,
        fields: [
          ["username", account.username],
          ["email", account.email],
          ["since", account.createdAt],
          ["suspended", account.suspendedAt],
          ["deleted", account.deletedAt],
          ["id", account.id],
        ],
      }
    },
  }),
  token: defineCall({
    summary: "Create a token for a user",
    description:
      "For a user who lost their token. Without --scope it has all scopes except those for administration. Prints the token once.",
    examples: [
      ["hamlet user token grace", "create a token for a user"],
      [
        "hamlet user token grace --scope admin val:read --name operator",
        "create an administrator's token",
      ],
    ],
    takes: {
      ...takesUser,
      "--name <name>": "name of the token",
      "-s, --scope <scope...>": { help: "scopes of the token", choices: scopes },
      "--expires <time>": { help: "when it expires: 12h, 30d or a date", parse: toFutureMoment },
    },
    async call(session, { user, name, scope, expires }) {
      const { id, username } = await findUser(session, user)
      const input = { user_id: id, name, scopes: scope, expiresAt: expires }
      const created = await session.client.createUserToken(input)
      return {
        json: created,
        plain: created.token,
        note: `This is a token of ${username}. It will not be shown again`,
      }
    },
  }),
  usage: defineCommand({
    summary: "Show the usage and limits of a user",
    description:
      "Rates per minute are those of the node that responds; storage is the total of all nodes.",
    examples: [["hamlet user usage grace", "show the usage and limits of a user"]],
    takes: takesUser,
    async run({ connect, output }, { user }) {
      const connection = await connect()
      const { id } = await findUser(connection, user)
      await showUsage(output, await connection.client.getUserUsage({ user_id: id }))
    },
  }),
  email: defineCall({
    summary: "Set the email address of a user",
    description: `Sets the email address of a user, who then need not confirm it. "none" removes the address.`,
    examples: [
      ["hamlet user email grace grace@example.org", "set the address of a user"],
      ["hamlet user email grace none", "remove it"],
    ],
    takes: { ...takesUser, "<email>": 'address, or "none"' },
    async call(session, { user, email }) {
      const { id } = await findUser(session, user)
      const account = await session.client.putUserEmail({
        user_id: id,
        email: email === "none" ? null : email,
      })
      return {
        json: account,
        fields: [
          ["username", account.username],
          ["email", account.email],
        ],
      }
    },
  }),
  quota: defineCall({
    summary: "Show or set the quotas of a user",
    description: `Shows the quotas of a user, and sets those you name. "default" restores the server's limit. Write bytes as
500k, 20M or 1G.`,
    examples: [
      ["hamlet user quota grace", "show the quotas of a user"],
      ["hamlet user quota grace --blob-bytes 5G --runs-per-minute 100", "set two quotas"],
      ["hamlet user quota grace --blob-bytes default", "restore the server's limit"],
    ],
    takes: {
      ...takesUser,
      "--runs-per-minute <count>": { help: "runs per minute", parse: toQuota },
      "--runs-at-once <count>": { help: "concurrent runs", parse: toQuota },
      "--egress-bytes-per-minute <bytes>": { help: "outgoing bytes per minute", parse: toQuota },
      "--storage-requests-per-minute <count>": {
        help: "requests to blobs and SQLite per minute",
        parse: toQuota,
      },
      "--blob-bytes <bytes>": { help: "size of all blobs", parse: toQuota },
      "--sqlite-bytes <bytes>": { help: "size of the SQLite database", parse: toQuota },
      "--mails-per-day <count>": { help: "recipients of emails in 24 hours", parse: toQuota },
    },
    async call(session, { user, ...options }) {
      const { client } = session
      const { id } = await findUser(session, user)
      const named = quotaNames.flatMap((name) => {
        const quota = options[name]
        return quota === undefined ? [] : [[name, quota === "default" ? null : quota] as const]
      })
      const quotas =
        named.length > 0
          ? await client.putUserQuotas({ user_id: id, ...Object.fromEntries(named) })
          : await client.getUserQuotas({ user_id: id })
      return {
        json: quotas,
        fields: Object.entries(quotas).map(([name, value]) => [name, value ?? "default"]),
      }
    },
  }),
  suspend: defineCall({
    summary: "Suspend a user and their vals",
    description: `The user's tokens and sessions are refused, their vals do not run, and their current runs are cancelled.
Nothing is deleted.`,
    examples: [
      ["hamlet user suspend grace", "suspend a user"],
      ['hamlet user suspend grace --reason "sends spam"', "record a reason in the audit log"],
    ],
    takes: { ...takesUser, "--reason <text>": "reason for the audit log" },
    async call(session, { user, reason }) {
      const { id, username } = await findUser(session, user)
      await session.client.suspendUser({ user_id: id, reason })
      const json = { id, username, suspended: true }
      return { json, plain: username, human: `Suspended ${username}` }
    },
  }),
  unsuspend: defineCall({
    summary: "Lift a suspension",
    description:
      "Also restores a user who was deleted without --with-data; they then need a new token.",
    examples: [["hamlet user unsuspend grace", "lift a suspension"]],
    takes: takesUser,
    async call(session, { user }) {
      const { id, username } = await findUser(session, user)
      await session.client.unsuspendUser({ user_id: id })
      const json = { id, username, suspended: false }
      return { json, plain: username, human: `${username} is no longer suspended` }
    },
  }),
  rm: defineCall({
    summary: "Delete a user",
    description: `The user can no longer sign in, and their vals no longer run; their tokens and secrets are deleted. Their
data is kept: public vals stay readable, the username stays taken, and "hamlet user unsuspend" restores the
user. With --with-data, all of their data is deleted too, permanently.`,
    examples: [
      ["hamlet user rm grace", "delete a user but keep their data"],
      [
        "hamlet user rm grace --with-data --yes",
        "delete a user and their data without confirmation",
      ],
    ],
    takes: { ...takesUser, "--with-data": "also delete all of their data", ...confirmOption },
    async call(session, { user, withData = false, yes }) {
      const { id, username } = await findUser(session, user)
      const data = withData ? " with all of their vals, blobs, databases and runs" : ""
      await confirm(`Delete ${username}${data}?`, { yes })
      await session.client.deleteUser({ user_id: id, data: withData ? "delete" : "keep" })
      return {
        json: { id, username, deleted: true, withData },
        plain: username,
        human: `Deleted ${username}${withData ? " and all of their data" : "; their data was kept"}`,
      }
    },
  }),
}

/** Finds a user by name, with or without `@`, or by id. */
function findUser({ client }: Connection, text: string): Promise<Output<"getUser">> {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
  return isId ? client.getUser({ user_id: text }) : client.getUserByName({ username: text })
}

function toState({ suspendedAt, deletedAt }: Item<"listUsers">): string {
  if (deletedAt !== null) return "deleted"
  return suspendedAt === null ? "active" : "suspended"
}

const quotaNames = [
  "runsPerMinute",
  "runsAtOnce",
  "egressBytesPerMinute",
  "storageRequestsPerMinute",
  "blobBytes",
  "sqliteBytes",
  "mailsPerDay",
] as const

const factors = { k: 1024, M: 1024 ** 2, G: 1024 ** 3 }

/** "default" instead of null: commander gives null a meaning of its own. */
function toQuota(text: string): number | "default" {
  if (text === "default") return text
  const [, digits, unit] = /^(\d{1,12})([kMG])?$/.exec(text) ?? []
  if (digits === undefined)
    throw new InvalidArgumentError(
      'It must be a whole number such as 100, 500k, 20M or 1G, or "default".',
    )
  return Number(digits) * (unit === undefined ? 1 : factors[unit as keyof typeof factors])
}

import { type Command, InvalidArgumentError } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findUser } from "../../names/find-user.ts"

/** commander gives null a meaning of its own. */
type Quota = number | "default"

interface QuotaOptions {
  readonly user: string
  readonly runsPerMinute?: Quota
  readonly runsAtOnce?: Quota
  readonly egressBytesPerMinute?: Quota
  readonly storageRequestsPerMinute?: Quota
  readonly blobBytes?: Quota
  readonly sqliteBytes?: Quota
  readonly mailsPerDay?: Quota
}

const names = [
  "runsPerMinute",
  "runsAtOnce",
  "egressBytesPerMinute",
  "storageRequestsPerMinute",
  "blobBytes",
  "sqliteBytes",
  "mailsPerDay",
] as const

export const command = defineCommand<QuotaOptions>({
  description: `Shows the quotas of a user, and sets those you name. "default" restores the server's limit. Write bytes as
500k, 20M or 1G.`,
  examples: [
    ["hamlet user quota grace", "show the quotas of a user"],
    ["hamlet user quota grace --blob-bytes 5G --runs-per-minute 100", "set two quotas"],
    ["hamlet user quota grace --blob-bytes default", "restore the server's limit"],
  ],
  configure: (command: Command) =>
    command
      .argument("<user>", "username or id")
      .option("--runs-per-minute <count>", "runs per minute", toQuota)
      .option("--runs-at-once <count>", "concurrent runs", toQuota)
      .option("--egress-bytes-per-minute <bytes>", "outgoing bytes per minute", toQuota)
      .option(
        "--storage-requests-per-minute <count>",
        "requests to blobs and SQLite per minute",
        toQuota,
      )
      .option("--blob-bytes <bytes>", "size of all blobs", toQuota)
      .option("--sqlite-bytes <bytes>", "size of the SQLite database", toQuota)
      .option("--mails-per-day <count>", "recipients of emails in 24 hours", toQuota),
  run: setQuotas,
})

async function setQuotas(
  { connect, output }: Context,
  { user, ...given }: QuotaOptions,
): Promise<void> {
  const connection = await connect()
  const { client } = connection
  const { id } = await findUser(connection, user)
  const isNamed = ([name, quota]: [string, unknown]) =>
    quota !== undefined && (names as readonly string[]).includes(name)
  const named = Object.fromEntries(
    Object.entries(given)
      .filter(isNamed)
      .map(([name, quota]) => [name, quota === "default" ? null : quota]),
  )
  const quotas =
    Object.keys(named).length > 0
      ? await client.putUserQuotas({ user_id: id, ...named })
      : await client.getUserQuotas({ user_id: id })
  output.record(
    quotas,
    Object.entries(quotas).map(([name, value]) => [name, value ?? "default"] as const),
  )
}

const factors = { k: 1024, M: 1024 ** 2, G: 1024 ** 3 }

function toQuota(text: string): Quota {
  if (text === "default") return text
  const [, digits, unit] = /^(\d{1,12})([kMG])?$/.exec(text) ?? []
  if (digits === undefined)
    throw new InvalidArgumentError(
      'It must be a whole number such as 100, 500k, 20M or 1G, or "default".',
    )
  return Number(digits) * (unit === undefined ? 1 : factors[unit as keyof typeof factors])
}

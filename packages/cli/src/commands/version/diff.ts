import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import { findVal, toFullName, type Val } from "../../names/find-val.ts"
import { toVersionNumber } from "../../names/version-number.ts"
import { printLines } from "../../output/print-diff.ts"
import { toUnifiedDiff } from "../../output/unified-diff.ts"
import type { Connection } from "../../servers/connection.ts"

export const command = defineCommand({
  description:
    "With one number, compares that version with the current one. Without numbers, shows the latest change.",
  examples: [
    ["hamlet version diff hello", "the latest change"],
    ["hamlet version diff hello 3", "changes since version 3"],
    ["hamlet version diff ada/hello 3 5", "changes between two versions"],
  ],
  takes: {
    "<val>": "name of the val",
    "[from]": { help: "older version", parse: toVersionNumber },
    "[to]": { help: "newer version", parse: toVersionNumber },
  },
  async run({ connect, output }, options) {
    const connection = await connect()
    const { val } = await findVal(connection, options.val)
    const [before, after] = await getBoth(connection, val, options)
    const names = {
      before: `${toFullName(val)}@${before.version}`,
      after: `${toFullName(val)}@${after.version}`,
    }
    const lines = toUnifiedDiff(before.code, after.code, names)
    if (output.mode === "json")
      return output.json({
        from: before.version,
        to: after.version,
        diff: lines.map(({ text }) => `${text}\n`).join(""),
      })
    printLines(output, lines)
  },
})

async function getBoth(
  { client }: Connection,
  val: Val,
  { from, to }: Readonly<Record<"from" | "to", number | undefined>>,
): Promise<readonly [Val, Val]> {
  const get = async (version: number) =>
    version === val.version ? val : client.getVersion({ val_id: val.id, version })
  const after = to === undefined ? val : await get(to)
  return [await get(from ?? (await findPrevious({ client }, val))), after]
}

/** Deleted versions leave gaps, so the previous one is looked up in the list. */
async function findPrevious({ client }: Pick<Connection, "client">, val: Val): Promise<number> {
  for await (const { version } of client.items("listVersions", { val_id: val.id }))
    if (version < val.version) return version
  throw new CliError(
    "notFound",
    `Cannot compare ${toFullName(val)}@${val.version}: there is no version before it`,
  )
}

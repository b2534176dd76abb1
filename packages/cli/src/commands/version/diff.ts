import type { Client, Item } from "@hamlet/contract/client"
import { createFetchText, listTree } from "../../checkout/remote-tree.ts"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import { findVal, toFullName, type Val } from "../../names/find-val.ts"
import { toVersionNumber } from "../../names/version-number.ts"
import { type FileChange, printDiff, toFileDiff } from "../../output/print-diff.ts"
import type { Connection } from "../../servers/connection.ts"

export const command = defineCommand({
  description: `Compares all files. With one number, compares that version with the current one. Without numbers, shows
the latest change.`,
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
    const versions = { from: before.version, to: after.version }
    const changes = await listChanges(connection.client, val, versions)
    if (output.mode === "json") {
      const files = changes.map(toFileDiff)
      return output.json({ ...versions, diff: files.map(({ diff }) => diff).join(""), files })
    }
    for (const change of changes) printDiff(output, change)
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

type ListedFile = Item<"listFiles">

/** The files that differ between two versions of main. */
async function listChanges(
  client: Client,
  val: Val,
  { from, to }: Readonly<Record<"from" | "to", number>>,
): Promise<readonly FileChange[]> {
  const place = { val, branch: val }
  const [oldText, newText] = [
    createFetchText(client, place, from),
    createFetchText(client, place, to),
  ]
  const [oldFiles, newFiles] = await Promise.all([
    listFiles(client, val, from),
    listFiles(client, val, to),
  ])
  const changes: FileChange[] = []
  for (const id of new Set([...oldFiles.keys(), ...newFiles.keys()])) {
    const [old, now] = [oldFiles.get(id), newFiles.get(id)]
    // A file keeps its id, and says which version has changed it last.
    if (old?.version === now?.version && old?.path === now?.path) continue
    const [before, after] = await Promise.all([
      old ? oldText(old.path) : null,
      now ? newText(now.path) : null,
    ])
    const [path, newPath] = [old?.path ?? now?.path ?? "", now?.path ?? old?.path ?? ""]
    if (before !== after || path !== newPath) changes.push({ path, newPath, before, after })
  }
  return changes.sort((one, other) => (one.newPath < other.newPath ? -1 : 1))
}

async function listFiles(
  client: Client,
  val: Val,
  version: number,
): Promise<ReadonlyMap<string, ListedFile>> {
  const listed = await Array.fromAsync(listTree(client, { val, branch: val }, version))
  return new Map(listed.filter(({ type }) => type !== "directory").map((file) => [file.id, file]))
}

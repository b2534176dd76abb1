import { createClient, unlessMissing } from "@hamlet/contract/client"
import type { ImportReport } from "../archive/import-report.ts"
import type { ImportResult } from "../archive/send-vals.ts"
import { writeBranch } from "../archive/write-branch.ts"
import { CliError } from "../cli-error.ts"
import type { Context } from "../context.ts"
import type { ExitName } from "../exit-codes.ts"
import { toFailure } from "../failure.ts"
import { limits } from "../limits.ts"
import type { Connection } from "../servers/connection.ts"
import { askHidden, canAsk } from "../terminal/ask.ts"
import { createProgress } from "../terminal/progress.ts"
import { fetchSourceVal, listSourceVals } from "./fetch-vals.ts"
import { listVtFolders, readVtFolder } from "./read-vt-folder.ts"
import type { SourceVal } from "./val-source.ts"

/** How vals of Val Town are imported. */
export interface ValTownOptions {
  /** A folder that `vt clone` made, or `USER/VAL`; without it, all vals of the token's owner. */
  readonly source: string | undefined
  readonly name: string | undefined
  readonly apiUrl: string
  readonly ifExists: "skip" | "version" | "fail"
  readonly isDry: boolean
}

/** Imports vals of Val Town, each with its branches. */
export async function importFromValTown(
  context: Context,
  connection: Connection,
  options: ValTownOptions,
  report: ImportReport,
): Promise<ExitName | undefined> {
  const sources = await openSources(context, options)
  let isBroken = true
  try {
    using progress = createProgress(context, {
      label: options.isDry ? "Rehearsing" : "Importing",
      unit: "vals",
      total: sources.length,
    })
    report.useProgress(progress)
    for (const { source, name, load } of sources) {
      try {
        const val = await load()
        report.add(source, await importVal(connection, val, options))
        for (const problem of val.problems)
          report.add(source, { name: null, status: "failed", message: problem })
        if (!options.isDry) for (const text of toNotes(val)) progress.note(text)
      } catch (error) {
        const failure = toFailure(error)
        if (!failure || failure.exit === "unavailable" || failure.exit === "refused") throw error
        report.add(source, { name, status: "failed", message: failure.text })
      }
    }
    isBroken = false
  } finally {
    report.end(isBroken)
  }
  return report.failed > 0 ? "failed" : undefined
}

interface Source {
  readonly source: string
  readonly name: string
  load(): Promise<SourceVal>
}

async function openSources(
  context: Context,
  { source, name, apiUrl }: ValTownOptions,
): Promise<readonly Source[]> {
  const isFolder = source !== undefined && (await isThere(source))
  if (source !== undefined && (isFolder || !/^@?\w+\/[\w-]+$/.test(source)))
    return listVtFolders(source).map((folder) => ({
      source: folder,
      name: folder,
      load: async () => readVtFolder(folder, name),
    }))
  const client = createClient({
    baseUrl: apiUrl,
    token: await readToken(context),
    timeoutMs: limits.timeoutMs,
    retriesMax: limits.retriesMax,
  })
  const vals = await listSourceVals(client, source)
  return vals.map((val) => ({
    source: `${val.author.username ?? ""}/${val.name}`,
    name: val.name,
    load: async () => ({ ...(await fetchSourceVal(client, val)), ...(name && { name }) }),
  }))
}

async function isThere(path: string): Promise<boolean> {
  return Bun.file(path)
    .stat()
    .then(
      () => true,
      () => false,
    )
}

/** The token is never an argument, because other users of this machine can read those. */
async function readToken({ env }: Context): Promise<string> {
  const token = env.VAL_TOWN_API_KEY ?? (canAsk() ? await askHidden("Token of Val Town: ") : "")
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new CliError("usage", "Cannot read from Val Town: there is no token", {
    advice: 'set VAL_TOWN_API_KEY, or name a folder that "vt clone" made',
  })
}

async function importVal(
  { client, me }: Connection,
  val: SourceVal,
  { ifExists, isDry }: ValTownOptions,
): Promise<ImportResult> {
  const { name, privacy, description } = val
  const { username } = await me()
  const own = client.getValByName({ username, val_name: name })
  const found = await unlessMissing(own, "val_not_found")
  // An import that was interrupted has left an empty val.
  const isNew = found === undefined || found.version === 0
  if (!isNew && ifExists !== "version")
    return ifExists === "skip"
      ? { name, status: "skipped", id: found.id, message: `You already have a val "${name}"` }
      : { name, status: "failed", message: `Cannot import val "${name}": you already have one` }
  if (isDry) return { name, status: isNew ? "created" : "updated" }
  const folder = { name, privacy, ...(description !== null && { description }) }
  const id = found?.id ?? (await client.createFolder(folder)).id
  let version = 0
  let isChanged = false
  for (const branch of val.branches) {
    const saved = await writeBranch(client, id, branch, "Imported from Val Town")
    if (branch.name === "main") version = saved.version
    isChanged ||= saved.isNewVersion
  }
  const status = isNew ? "created" : isChanged ? "updated" : "unchanged"
  return { name, status, id, ...(version > 0 && { version }) }
}

/** What the user has to do, because it cannot be read. */
function toNotes({ name, branches, variables }: SourceVal): readonly string[] {
  const intervals = (branches[0]?.files ?? []).filter(({ type }) => type === "interval")
  return [
    ...(variables ?? []).map(
      (key) => `${name}: set the value of ${key} with "hamlet env set ${name} ${key}"`,
    ),
    ...(variables === undefined
      ? [`${name}: its environment variables are not known; set them with "hamlet env set ${name}"`]
      : []),
    ...intervals.map(
      ({ path }) =>
        `${name}: the schedule of ${path} cannot be read; see "hamlet schedule show ${name}"`,
    ),
  ]
}

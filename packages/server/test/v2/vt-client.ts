import { watch } from "node:fs"
import { basename, dirname } from "node:path"
import { limitConcurrency } from "../support/limit-concurrency.ts"
import { SdkClient } from "./sdk-client.ts"
import type { Attribute, Branch, Profile, TextType, Val, ValFile, ValInput } from "./sdk-records.ts"
import { NotFoundError, SdkError } from "./sdk-transport.ts"
import type { VtFolder } from "./vt-folder.ts"
import { compare, type ItemStatus } from "./vt-status.ts"

const writesMax = 5
const listedMax = 20
const tracesMax = 50

/** A name of a val: its owner and its own. */
type ValName = readonly [username: string, valName: string]

export interface PushResult {
  readonly items: readonly ItemStatus[]
  /** Requests that failed, and what `vt` would not send: it says that it could not push everything. */
  readonly warnings: readonly string[]
}

/** What `tail` prints of a run. */
export interface TailedRun {
  readonly path: string
  readonly type: ValFile["type"]
  /** The request to an http file. */
  readonly request: string | undefined
  readonly status: string
  readonly headers: Readonly<Record<string, string>>
  readonly lines: readonly string[]
}

/**
 * The official command line client, release 0.1.54, which no test can install: what its commands
 * request, in which order, and what they do to a folder. Lists and contents are kept by val, branch
 * and version for as long as the object lives, as one process of the program keeps them.
 */
export class VtClient {
  readonly sdk: SdkClient
  readonly #lists = new Map<string, Promise<ValFile[]>>()
  readonly #contents = new Map<string, Promise<string>>()
  #me: Promise<Profile> | undefined

  constructor(baseUrl: string, apiKey: string) {
    this.sdk = new SdkClient({ baseUrl, apiKey, headers: { "x-vt-version": "0.1.54" } })
  }

  /** Every command asks first who it is; the response is kept for an hour. */
  me(): Promise<Profile> {
    this.#me ??= this.sdk.me.retrieveProfile()
    return this.#me
  }

  /** Creates a val from what is in the folder, and checks it out there. */
  async create(folder: VtFolder, input: ValInput): Promise<PushResult> {
    const { username } = await this.me()
    // With organisations it would ask who is to own the val.
    await this.sdk.orgs.list().toArray()
    const { result } = await this.#create(folder, input)
    await this.clone(folder, [username ?? "", input.name])
    return result
  }

  async clone(folder: VtFolder, [username, valName]: ValName, branchName = "main"): Promise<void> {
    await this.me()
    const val = await this.sdk.alias.retrieveVal(username, valName)
    const { id: branchId } = await this.#findBranch(val.id, branchName)
    const { version } = await this.sdk.branches.retrieve(val.id, branchId)
    await this.#download(folder, val.id, branchId, version)
    await folder.saveState({ valId: val.id, branchId, version })
  }

  /** The branch at its first version, the one of the folder and the newest, and every item. */
  async status(
    folder: VtFolder,
  ): Promise<{ readonly range: string; readonly items: readonly ItemStatus[] }> {
    await this.me()
    const { valId, branchId, version } = await folder.loadState()
    const branch = await this.sdk.branches.retrieve(valId, branchId)
    const items = await this.#compare(folder, valId, branchId, branch.version)
    return { range: `${branch.name}@0..${version}..${branch.version}`, items }
  }

  async push(folder: VtFolder): Promise<PushResult> {
    await this.me()
    const state = await folder.loadState()
    await this.sdk.vals.retrieve(state.valId)
    await this.#assertMayWrite(state.valId)
    const result = await this.#push(folder, state.valId, state.branchId)
    const { version } = await this.sdk.branches.retrieve(state.valId, state.branchId)
    await folder.saveState({ ...state, version })
    return result
  }

  /** Makes the folder what the server has: what its list does not contain is deleted. */
  async pull(folder: VtFolder): Promise<void> {
    await this.me()
    const state = await folder.loadState()
    const { version } = await this.sdk.branches.retrieve(state.valId, state.branchId)
    await this.#download(folder, state.valId, state.branchId, version)
    const paths = await this.#listPaths(state.valId, state.branchId, version)
    for (const { path } of await folder.list()) if (!paths.has(path)) await folder.remove(path)
    await folder.saveState({ ...state, version })
  }

  /** Pushes once, and then on each change until it is stopped. */
  async watch(
    folder: VtFolder,
    pauseMs: number,
  ): Promise<{ readonly endpoints: readonly string[]; stop(): Promise<void> }> {
    await this.push(folder)
    const { valId, branchId, version } = await folder.loadState()
    const files = await this.#list(valId, branchId, version)
    let pushing: Promise<unknown> = Promise.resolve()
    let timer: Timer | undefined
    const watcher = watch(folder.root, { recursive: true }, (_, name) => {
      if (name?.startsWith(".vt")) return
      clearTimeout(timer)
      timer = setTimeout(() => {
        pushing = pushing.then(() => this.push(folder))
      }, pauseMs)
    })
    return {
      endpoints: files.flatMap(({ links }) => links.endpoint ?? []),
      async stop() {
        clearTimeout(timer)
        watcher.close()
        await pushing
      },
    }
  }

  async checkout(folder: VtFolder, branchName: string): Promise<void> {
    await this.me()
    const state = await folder.loadState()
    const from = await this.sdk.branches.retrieve(state.valId, state.branchId)
    await this.status(folder)
    const { id: toId } = await this.#findBranch(state.valId, branchName)
    const to = await this.sdk.branches.retrieve(state.valId, toId)
    // The client first looks what would change, with the number of the old branch for the new one.
    await this.#list(state.valId, from.id, from.version)
    for (const file of await this.#list(state.valId, to.id, state.version || to.version))
      if (file.type !== "directory")
        await this.#read(state.valId, to.id, state.version || to.version, file.path)
    await this.#download(folder, state.valId, to.id, to.version)
    const kept = await this.#listPaths(state.valId, to.id, to.version)
    for (const path of await this.#listPaths(state.valId, from.id, from.version))
      if (!kept.has(path)) await folder.remove(path)
    await folder.saveState({ ...state, branchId: to.id, version: to.version })
  }

  /** `checkout -b`: a new branch from the present one; the folder stays as it is. */
  async checkoutNew(folder: VtFolder, name: string): Promise<Branch> {
    await this.me()
    const state = await folder.loadState()
    const from = await this.sdk.branches.retrieve(state.valId, state.branchId)
    await this.#assertMayWrite(state.valId)
    await this.status(folder)
    const branch = await this.sdk.branches.create(state.valId, { branchId: from.id, name })
    await this.#list(state.valId, from.id, from.version)
    await folder.saveState({ ...state, branchId: branch.id, version: branch.version })
    return branch
  }

  async listBranches(folder: VtFolder): Promise<Branch[]> {
    await this.me()
    const { valId } = await folder.loadState()
    return this.sdk.branches.list(valId).toArray()
  }

  /** `branch -D`. */
  async deleteBranch(folder: VtFolder, name: string): Promise<void> {
    await this.me()
    const { valId } = await folder.loadState()
    await this.sdk.branches.delete(valId, (await this.#findBranch(valId, name)).id)
  }

  /** Copies a val of anybody to a new one of the caller, with the types of its files. */
  async remix(folder: VtFolder, [username, valName]: ValName, name: string): Promise<Val> {
    const me = await this.me()
    const source = await this.sdk.alias.retrieveVal(username, valName)
    if (await this.#isTaken([me.username ?? "", name])) throw new Error(`there is a val ${name}`)
    const branch = await this.#findBranch(source.id, "main")
    const { description, privacy } = await this.sdk.vals.retrieve(source.id)
    await this.#download(folder, source.id, branch.id, branch.version)
    const input = { name, privacy, description: description ?? "" }
    const { val, branchId } = await this.#create(folder, input)
    const files = await this.#list(source.id, branch.id, branch.version)
    await Promise.all(
      files
        .filter(({ type }) => type !== "directory")
        .map(({ path, type }) =>
          this.sdk.valFiles.update(val.id, { path, type: type as TextType, branch_id: branchId }),
        ),
    )
    const { version } = await this.sdk.branches.retrieve(val.id, branchId)
    if (version === 0) throw new Error("the new val has no version")
    await folder.saveState({ valId: val.id, branchId, version })
    return val
  }

  /** Runs of the branches that end from now on; waits so long when there are none. */
  async *tail(
    branchIds: readonly string[],
    { since = new Date(), pauseMs = 1_000 }: { readonly since?: Date; readonly pauseMs?: number },
  ): AsyncGenerator<TailedRun> {
    let cursor = since
    for (;;) {
      const page = await this.sdk.telemetry.listTraces({
        branch_ids: branchIds,
        limit: tracesMax,
        start: cursor.toISOString(),
        order_by: "end_time",
        direction: "asc",
      })
      for (const { traceId, attributes, status } of page.data)
        yield await this.#toTailed(traceId, toTexts(attributes), status.code)
      const start = page.links.next && new URL(page.links.next).searchParams.get("start")
      if (start) cursor = new Date(start)
      else await Bun.sleep(pauseMs)
    }
  }

  async delete(folder: VtFolder): Promise<void> {
    await this.me()
    const { valId } = await folder.loadState()
    await this.sdk.vals.retrieve(valId)
    await this.sdk.vals.delete(valId)
    await folder.forget()
  }

  /** Vals of the caller: one screen of them, or all. */
  async list({
    offset = 0,
    isAll = false,
  }: {
    readonly offset?: number
    readonly isAll?: boolean
  } = {}): Promise<Val[]> {
    await this.me()
    const vals: Val[] = []
    for await (const val of this.sdk.me.listVals({ offset })) {
      vals.push(val)
      if (!isAll && vals.length === listedMax) break
    }
    return vals
  }

  /** The page of the branch. */
  async browse(folder: VtFolder): Promise<string> {
    await this.me()
    const { valId, branchId } = await folder.loadState()
    return (await this.sdk.branches.retrieve(valId, branchId)).links.html
  }

  async #create(folder: VtFolder, input: ValInput) {
    const val = await this.sdk.vals.create({ description: "", ...input })
    const { id: branchId } = await this.#findBranch(val.id, "main")
    return { val, branchId, result: await this.#push(folder, val.id, branchId) }
  }

  async #push(folder: VtFolder, valId: string, branch_id: string): Promise<PushResult> {
    const { version } = await this.sdk.branches.retrieve(valId, branch_id)
    const items = await this.#compare(folder, valId, branch_id, version)
    const warnings = items.flatMap((item) => item.warnings.map((it) => `${item.path}: ${it}`))
    const attempt = async (path: string, request: () => Promise<unknown>): Promise<void> => {
      try {
        await request()
      } catch (error) {
        if (!(error instanceof SdkError)) throw error
        warnings.push(`${path}: ${error.message}`)
      }
    }
    const sent = items.filter((item) => item.warnings.length === 0)
    const directories = sent.filter(({ kind, type }) => kind === "created" && type === "directory")
    directories.sort((one, other) => toDepth(one.path) - toDepth(other.path))
    for (const { path } of directories)
      await attempt(path, () =>
        this.sdk.valFiles.create(valId, { path, type: "directory", branch_id }),
      )
    const limit = limitConcurrency(writesMax)
    const writes = sent
      .map((item) => ({ path: item.path, write: this.#toWrite(valId, branch_id, item) }))
      .flatMap(({ path, write }) => (write === undefined ? [] : [{ path, write }]))
    await Promise.all(writes.map(({ path, write }) => limit(() => attempt(path, write))))
    return { items, warnings }
  }

  #toWrite(
    valId: string,
    branch_id: string,
    { kind, path, oldPath = "", type, content }: ItemStatus,
  ): (() => Promise<unknown>) | undefined {
    const { valFiles } = this.sdk
    const name = basename(path)
    if (kind === "deleted")
      return () => valFiles.delete(valId, { path, recursive: true, branch_id })
    if (type === "directory") return undefined
    if (kind === "renamed") {
      const parent_path = dirname(path) === "." ? null : dirname(path)
      return () => valFiles.update(valId, { path: oldPath, branch_id, name, parent_path, content })
    }
    if (kind === "created") return () => valFiles.create(valId, { path, branch_id, type, content })
    if (kind === "modified")
      return () => valFiles.update(valId, { path, branch_id, content, name, type })
    return undefined
  }

  async #compare(folder: VtFolder, valId: string, branchId: string, version: number) {
    const files = await this.#list(valId, branchId, version)
    const readContent = (path: string) => this.#read(valId, branchId, version, path)
    return compare(await folder.list(), files, readContent)
  }

  /** Downloads all files at once, without those whose time is the one of the server. */
  async #download(folder: VtFolder, valId: string, branchId: string, version: number) {
    const files = await this.#list(valId, branchId, version)
    const times = new Map((await folder.list()).map(({ path, mtimeMs }) => [path, mtimeMs]))
    await Promise.all(
      files.map(async (file) => {
        if (file.type === "directory") return folder.makeDirectory(file.path)
        if (times.get(file.path) === Date.parse(file.updatedAt)) return
        await folder.download(file, await this.#read(valId, branchId, version, file.path))
      }),
    )
  }

  #list(valId: string, branch_id: string, version: number): Promise<ValFile[]> {
    return getOrMake(this.#lists, [valId, branch_id, version].join(), () =>
      this.sdk.valFiles
        .retrieve(valId, { path: "", branch_id, version, recursive: true })
        .toArray(),
    )
  }

  async #listPaths(valId: string, branchId: string, version: number): Promise<Set<string>> {
    return new Set((await this.#list(valId, branchId, version)).map(({ path }) => path))
  }

  #read(valId: string, branch_id: string, version: number, path: string): Promise<string> {
    return getOrMake(this.#contents, [valId, branch_id, version, path].join(), async () =>
      (await this.sdk.valFiles.getContent(valId, { path, branch_id, version })).text(),
    )
  }

  async #findBranch(valId: string, name: string): Promise<Branch> {
    for await (const branch of this.sdk.branches.list(valId))
      if (branch.name === name) return branch
    throw new Error(`there is no branch ${name}`)
  }

  async #isTaken([username, valName]: ValName): Promise<boolean> {
    try {
      await this.sdk.alias.retrieveVal(username, valName)
      return true
    } catch (error) {
      if (error instanceof NotFoundError) return false
      throw error
    }
  }

  /** Changes a file that cannot exist: the status of the error says whether the caller may write. */
  async #assertMayWrite(valId: string): Promise<void> {
    const path = crypto.randomUUID()
    const error = await this.sdk.valFiles.update(valId, { path }).then(
      () => new Error("the write probe has changed a file"),
      (error: unknown) => error,
    )
    if (!(error instanceof NotFoundError)) throw error
    if (error.message.includes("Not authorized")) throw error
  }

  async #toTailed(
    traceId: string,
    texts: Readonly<Record<string, string>>,
    code: number,
  ): Promise<TailedRun> {
    const { path, type } = await this.sdk.files.retrieve(texts["val.file_id"] ?? "")
    const isHttp = type === "http"
    const method = texts["http.request.method"] as string
    const headers = Object.entries(texts).filter(([key]) => key.startsWith("http.request.header."))
    return {
      path,
      type,
      request: isHttp
        ? `${method.toUpperCase()} ${new URL(texts["url.full"] ?? "").href}`
        : undefined,
      status: isHttp ? (texts["http.response.status_code"] ?? "??") : String(code),
      headers: Object.fromEntries(headers.map(([key, text]) => [key.slice(20), text])),
      lines: await Array.fromAsync(this.#readLines(traceId)),
    }
  }

  /** The log of a run, line by line. */
  async *#readLines(traceId: string): AsyncGenerator<string> {
    let start: string | null = null
    for (;;) {
      const { data, links } = await this.sdk.telemetry.listLogs({
        limit: 1,
        trace_ids: [traceId],
        ...(start === null ? {} : { start }),
        direction: "asc",
      })
      for (const { severityText, body } of data)
        if (body.stringValue) yield `${severityText}: ${body.stringValue}`
      if (!links.next) return
      start = new URL(links.next).searchParams.get("start")
    }
  }
}

function toTexts(attributes: readonly Attribute[]): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? ""]),
  )
}

function toDepth(path: string): number {
  return path.split("/").length
}

function getOrMake<T>(
  cache: Map<string, Promise<T>>,
  key: string,
  make: () => Promise<T>,
): Promise<T> {
  const kept = cache.get(key) ?? make()
  cache.set(key, kept)
  return kept
}

import { type FSWatcher, watch } from "node:fs"
import type { Client } from "@hamlet/contract/client"
import { limits } from "../limits.ts"
import { isTemporary } from "../runs/run-watcher.ts"
import { createRemoteVals, type RemoteVals } from "./remote-vals.ts"
import { createScanner, type Scan } from "./scan-folder.ts"
import { listKnownPaths, type SyncDeps, type SyncResult, syncFolder } from "./sync-folder.ts"

/** How often in a row somebody else may be faster before there is a pause. */
const racesMax = 3

/** What watching needs beyond one synchronisation. */
export interface FolderWatcherDeps extends Omit<SyncDeps, "owner" | "isStopping"> {
  readonly client: Client
  /** The id of whoever is signed in. */
  getOwner(): Promise<string>
  /** Something that whoever waits should know. */
  note(text: string): void
  readonly settleMs?: number
}

/**
 * Keeps a folder and the vals on a server the same.
 *
 *     look ──▶ nothing new ──▶ wait: until something happens in the folder, or the next poll ──▶ look
 *       └────▶ synchronise ──▶ wait
 *       └────▶ the server is away ──▶ wait, longer each time ──▶ look
 */
export class FolderWatcher {
  readonly #deps: FolderWatcherDeps
  readonly #remote: ReturnType<typeof createRemoteVals>
  readonly #scanner: ReturnType<typeof createScanner>
  readonly #settleMs: number
  #isStopping = false
  /** Whether there is more to do for what is known already. */
  #isTouched = true
  /** Whether something has happened in the folder since it was looked through. */
  #hasEvent = false
  #isAway = false
  #awayMs = 0
  #lookedMs = 0
  #lastMark = ""
  #races = 0
  #wake = () => {}
  #running: Promise<unknown> = Promise.resolve()

  constructor(deps: FolderWatcherDeps) {
    this.#deps = deps
    this.#settleMs = deps.settleMs ?? limits.watchSettleMs
    this.#remote = createRemoteVals(deps.client)
    this.#scanner = createScanner(deps.folder, this.#settleMs)
  }

  /** Synchronises until both sides are the same, and no longer. */
  async once(): Promise<SyncResult> {
    const synced = this.#syncOnce()
    this.#running = synced
    return synced
  }

  async #syncOnce(): Promise<SyncResult> {
    let total: SyncResult = { hasActed: false, isRaced: false, hasConflict: false, exit: undefined }
    for (let round = 1; ; round++) {
      const { hasActed, isRaced, hasConflict, exit } = await this.#sync(
        await this.#scanAtRest(round === 1 || total.isRaced),
      )
      total = {
        hasActed: total.hasActed || hasActed,
        isRaced,
        hasConflict: total.hasConflict || hasConflict,
        exit: total.exit ?? exit,
      }
      if (!(hasActed || isRaced) || round === limits.watchRoundsMax || this.#isStopping)
        return total
    }
  }

  /** Watches until it is stopped, or cannot go on. */
  async run(): Promise<void> {
    const events = this.#listen()
    this.#running = this.#loop()
    try {
      await this.#running
    } finally {
      events?.close()
    }
  }

  /** Finishes what has been begun, and no more. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#wake()
    await this.#running.catch(() => {})
  }

  async #loop(): Promise<void> {
    let scannedMs = 0
    while (!this.#isStopping) {
      const isDue =
        this.#isTouched || this.#hasEvent || Date.now() - scannedMs >= limits.watchRescanMs
      try {
        if (await this.#step(isDue)) scannedMs = Date.now()
        if (this.#isAway) this.#deps.note("The server answers again")
        this.#isAway = false
        this.#awayMs = 0
      } catch (error) {
        if (!isTemporary(error)) throw error
        if (!this.#isAway)
          this.#deps.note(`${(error as Error).message}; trying again until it does`)
        this.#isAway = true
        this.#isTouched = true
        this.#awayMs = Math.min(limits.watchAwayMsMax, this.#awayMs * 2 || limits.watchPollMs)
      }
      if (!this.#isStopping) await this.#wait()
    }
  }

  /** Gives whether the folder was looked through. */
  async #step(isDue: boolean): Promise<boolean> {
    // While somebody writes, the folder is looked at more often than the server has to be.
    const isNew =
      Date.now() - this.#lookedMs >= limits.watchPollMs / 2 && (await this.#look()).isNew
    if (!isNew && !isDue) return false
    this.#isTouched = false
    this.#hasEvent = false
    const scan = this.#scanner.scan(listKnownPaths(this.#deps))
    const mark = toMark(scan)
    if (isNew || mark !== this.#lastMark) {
      // Until it has gone well, it is still to be done.
      this.#lastMark = ""
      this.#isTouched = true
      const { hasActed, isRaced } = await this.#sync(scan)
      // What somebody else was faster with is tried again at once, but not for ever.
      this.#races = isRaced ? this.#races + 1 : 0
      this.#isTouched = hasActed || (isRaced && this.#races <= racesMax)
      this.#lastMark = hasActed || isRaced ? "" : mark
    }
    this.#isTouched ||= scan.isUnsettled
    return true
  }

  async #sync(scan: Scan): Promise<SyncResult> {
    const owner = await this.#deps.getOwner()
    return syncFolder(
      { ...this.#deps, owner, isStopping: () => this.#isStopping },
      scan,
      await this.#look(),
    )
  }

  async #look(): Promise<RemoteVals> {
    const look = await this.#remote.look()
    this.#lookedMs = Date.now()
    return look
  }

  /**
   * What is in the folder once nobody writes any more, or after a while; nobody waits for what an
   * earlier round wrote.
   */
  async #scanAtRest(isPatient: boolean): Promise<Scan> {
    const deadlineMs = Date.now() + limits.watchSettleMsMax
    for (;;) {
      const scan = this.#scanner.scan(listKnownPaths(this.#deps))
      if (!scan.isUnsettled || !isPatient || Date.now() >= deadlineMs || this.#isStopping)
        return scan
      await Bun.sleep(this.#settleMs)
    }
  }

  /**
   * Where the system does not tell of changes, the folder is looked through now and then all the
   * same.
   */
  #listen(): FSWatcher | undefined {
    try {
      const events = watch(this.#deps.folder, { recursive: true }, (_kind, path) => {
        if (path?.startsWith(".hamlet")) return
        this.#hasEvent = true
        this.#wake()
      })
      events.on("error", () => {})
      return events
    } catch {
      return undefined
    }
  }

  /** Until the next poll, or a moment after something has happened in the folder. */
  async #wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const isSoon = (this.#isTouched || this.#hasEvent) && !this.#isAway
    const timer = setTimeout(
      resolve,
      this.#isAway ? this.#awayMs : isSoon ? this.#settleMs : limits.watchPollMs,
    )
    let soon: ReturnType<typeof setTimeout> | undefined
    this.#wake = () => {
      if (this.#isStopping) return resolve()
      if (!this.#isAway && !isSoon) soon ??= setTimeout(resolve, this.#settleMs)
    }
    await promise
    clearTimeout(timer)
    clearTimeout(soon)
    this.#wake = () => {}
  }
}

/** The same while nothing in the folder changes. */
function toMark({ files, blocked, missing, readmes }: Scan): string {
  const seen = [...files.values()].map(({ path, hash }) => `${path} ${hash}`)
  const texts = [...readmes].map(([path, { hash, problem }]) => `${path} ${hash} ${problem}`)
  return Bun.hash(
    [...seen, "blocked", ...[...blocked].flat(), "missing", ...missing, "readmes", ...texts].join(
      "\n",
    ),
  ).toString(36)
}

import { readStored } from "../../data/stored.ts"
import type { FileType } from "../files/load-files.ts"

/** Unsaved changes of a val's files, and the version of the branch that they are based on. */
export interface Draft {
  readonly files: readonly FileDraft[]
  readonly baseVersion: number
  readonly at: number
}

/** An unsaved change of one file. */
export interface FileDraft {
  /** The state that it is based on; absent for a new file. */
  readonly saved?: {
    readonly id: string
    readonly path: string
    readonly type: FileType
    readonly version: number
  }
  readonly path: string
  readonly type: FileType
  /** The text, if it has changed. */
  readonly text?: string | undefined
  readonly isDeleted: boolean
}

/** The draft of one branch of a val in one tab. It survives a reload and a crash of the browser. */
export interface DraftStore {
  read(): Draft | undefined
  /** Stores it soon. */
  write(draft: Draft): void
  clear(): void
  /** Whether the storage has the last changes: it may be full, or disabled. */
  isKept(): boolean
  /** Stores changes that were replaced in the editor, so that they can be restored. */
  setAside(draft: Draft): void
  /** Drafts that were set aside, or that belong to closed tabs, the newest first. */
  findRecoverable(): Promise<readonly RecoverableDraft[]>
  /** Releases the draft to other tabs. */
  stop(): void
}

/** A draft that no editor shows. */
export interface RecoverableDraft extends Draft {
  readonly isSetAside: boolean
  clear(): void
}

const prefix = "hamlet.draft."
const asidePrefix = "aside-"
const tabKey = "hamlet.tab"
const limits = {
  /** A reloaded page releases its lock within this time; otherwise another tab holds it. */
  waitMsMax: 1_500,
  /**
   * Drafts are written when the user pauses, and this long after a key at the latest: the storage is
   * written at once, and with a large text that takes longer than a frame.
   */
  pauseMs: 300,
  writeMsMax: 2_000,
}

/** Opens the drafts of one branch in this tab. Two tabs never share one: they would overwrite it. */
export function openDraftStore(subject: string): DraftStore {
  const keyPrefix = `${prefix}${subject}.`
  const readDraft = (key: string) => parseDraft(readStored(key), subject)
  const tabId = readTabId()
  let key = keyPrefix + tabId
  let latest = readDraft(key)
  let isStopped = false
  // Browsers have no locks on plain http from another machine.
  const { locks } = navigator
  let hasLock = locks === undefined
  const released = Promise.withResolvers<void>()
  let isKept = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let changedAt: number | undefined
  const store = () => {
    clearTimeout(timer)
    changedAt = undefined
    isKept = hasLock && writeDraft(key, latest)
  }
  const storeIfChanged = () => {
    if (changedAt !== undefined) store()
  }
  const storeSoon = () => {
    changedAt ??= Date.now()
    clearTimeout(timer)
    const restMs = changedAt + limits.writeMsMax - Date.now()
    timer = setTimeout(store, Math.min(limits.pauseMs, Math.max(0, restMs)))
  }
  // The page may end without any other event.
  addEventListener("pagehide", storeIfChanged)
  document.addEventListener("visibilitychange", storeIfChanged)
  // Held until the tab is closed, so that other tabs recognise its drafts as recoverable.
  const hold = (signal?: AbortSignal) =>
    locks?.request(key, signal ? { signal } : {}, () => {
      hasLock = true
      store()
      return released.promise
    })
  hold(AbortSignal.timeout(limits.waitMsMax))?.catch(() => {
    if (isStopped) return
    // A duplicated tab has the id of the original: it gets a new one, the same for all its texts.
    const isRenamed = readTabId() !== tabId
    key = keyPrefix + (isRenamed ? readTabId() : writeTabId())
    hold()?.catch(() => {})
  })
  return {
    read: () => latest,
    write(draft) {
      latest = draft
      storeSoon()
    },
    clear() {
      latest = undefined
      store()
    },
    isKept() {
      storeIfChanged()
      return isKept
    },
    setAside: (draft) => void writeDraft(keyPrefix + asidePrefix + toRandomId(), draft),
    findRecoverable: () => findRecoverable(keyPrefix, () => key, readDraft),
    stop() {
      isStopped = true
      storeIfChanged()
      removeEventListener("pagehide", storeIfChanged)
      document.removeEventListener("visibilitychange", storeIfChanged)
      released.resolve()
    },
  }
}

/** For users who may not change the text. */
export const noDrafts: DraftStore = {
  read: () => undefined,
  write: () => {},
  clear: () => {},
  isKept: () => true,
  setAside: () => {},
  findRecoverable: async () => [],
  stop: () => {},
}

async function findRecoverable(
  keyPrefix: string,
  toOwnKey: () => string,
  readDraft: (key: string) => Draft | undefined,
): Promise<readonly RecoverableDraft[]> {
  const { held = [] } = (await navigator.locks?.query()) ?? {}
  const heldKeys = new Set(held.map(({ name }) => name))
  const isSetAside = (key: string) => key.startsWith(keyPrefix + asidePrefix)
  // Without locks it is unknown which tabs are open.
  const isRecoverable = (key: string) =>
    isSetAside(key) || (navigator.locks !== undefined && !heldKeys.has(key))
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(keyPrefix) && key !== toOwnKey() && isRecoverable(key))
    .flatMap((key) => {
      const draft = readDraft(key)
      return draft
        ? [{ ...draft, isSetAside: isSetAside(key), clear: () => void writeDraft(key, undefined) }]
        : []
    })
    .sort((one, other) => other.at - one.at)
}

/** Reads a stored draft; one of an earlier release has the text of the entry file alone. */
export function parseDraft(stored: string | null, branchId: string): Draft | undefined {
  try {
    const { files, code, baseVersion, at } = JSON.parse(stored ?? "{}")
    if (typeof baseVersion !== "number" || typeof at !== "number") return undefined
    if (Array.isArray(files) && files.every(isFileDraft)) return { files, baseVersion, at }
    if (typeof code !== "string") return undefined
    const place = { path: "main.tsx", type: "script" } as const
    const saved = { ...place, id: branchId, version: baseVersion }
    return { files: [{ saved, ...place, text: code, isDeleted: false }], baseVersion, at }
  } catch {
    return undefined
  }
}

function isFileDraft(value: unknown): value is FileDraft {
  if (typeof value !== "object" || value === null) return false
  const { path, type, text, isDeleted, saved } = value as Record<string, unknown>
  const hasPlace = typeof path === "string" && typeof type === "string"
  return (
    hasPlace &&
    typeof isDeleted === "boolean" &&
    (text === undefined || typeof text === "string") &&
    (saved === undefined || (typeof saved === "object" && saved !== null && "version" in saved))
  )
}

/** Without storage the user can still type. Returns whether it was written. */
function writeDraft(key: string, draft: Draft | undefined): boolean {
  try {
    if (draft) localStorage.setItem(key, JSON.stringify(draft))
    else localStorage.removeItem(key)
    return true
  } catch {
    // The storage is full or disabled.
    return false
  }
}

/** The id of the tab: it survives a reload, and differs between tabs. */
function readTabId(): string {
  try {
    return sessionStorage.getItem(tabKey) ?? writeTabId()
  } catch {
    return "only"
  }
}

function writeTabId(): string {
  const id = toRandomId()
  try {
    sessionStorage.setItem(tabKey, id)
  } catch {
    // Without storage the tab has this id until it is reloaded.
  }
  return id
}

function toRandomId(): string {
  return Math.random().toString(36).slice(2)
}

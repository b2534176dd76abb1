/** Declarations that are large and seldom used: they are loaded when they are first wanted. */
export interface LateFiles {
  /** The names of the files; none until they are loaded. */
  list(): readonly string[]
  read(fileName: string): string | undefined
  has(fileName: string): boolean
  isLoaded(): boolean
  /** Loads them, unless they are loaded or being loaded. After a failure it tries again. */
  want(): void
}

export interface LateFilesOptions {
  /** Undefined after a failure: no error is shown for what they would declare. */
  readonly load: () => Promise<Readonly<Record<string, string>> | undefined>
  /** The files were loaded. */
  readonly onChange: () => void
}

export function createLateFiles({ load, onChange }: LateFilesOptions): LateFiles {
  let files: Readonly<Record<string, string>> = {}
  let state: "none" | "loading" | "loaded" = "none"

  async function start(): Promise<void> {
    state = "loading"
    const loaded = await load()
    state = loaded ? "loaded" : "none"
    if (!loaded) return
    files = loaded
    onChange()
  }

  const has = (fileName: string) => Object.hasOwn(files, fileName)
  return {
    list: () => Object.keys(files),
    read: (fileName) => (has(fileName) ? files[fileName] : undefined),
    has,
    isLoaded: () => state === "loaded",
    want() {
      if (state === "none") void start()
    },
  }
}

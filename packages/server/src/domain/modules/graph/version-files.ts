/** A version of a branch. */
export interface SavedVersion {
  readonly number: number
  readonly savedAt: number
  /** Null when it has no code. */
  readonly entryPath: string | null
}

/** A branch of a val. */
export interface NamedBranch {
  readonly id: string
  readonly name: string
}

/** A file in a version. */
export interface VersionFile {
  readonly id: string
  readonly type: "file" | "script" | "http" | "interval" | "email"
  /** The version in which it last changed. */
  readonly since: number
  readonly content: string
}

/** A file or folder of a version, as vals see it. */
export interface ListedFile {
  readonly id: string
  readonly path: string
  readonly type: VersionFile["type"] | "directory"
  readonly version: number
  readonly updatedAt: string
}

/** A file that can be a module. */
export interface VersionModule {
  readonly path: string
  readonly code: string
  /** Null when they were not stored. */
  readonly specifiers: readonly string[] | null
}

/** Reads the files of versions. Does not ask who may see them. */
export interface VersionFileStore {
  /** A branch of a val by its key, which is null for `main`. */
  findBranch(valId: string, key: string | null): Promise<NamedBranch | undefined>
  findBranchById(valId: string, branchId: string): Promise<NamedBranch | undefined>
  /** Null is the current version of the branch. */
  findVersion(branchId: string, version: number | null): Promise<SavedVersion | undefined>
  /** Undefined also for a folder. */
  find(branchId: string, version: number, path: string): Promise<VersionFile | undefined>
  /** Where a file was in a version. */
  findPath(branchId: string, version: number, fileId: string): Promise<string | undefined>
  /** All files and folders. */
  list(branchId: string, version: number): Promise<readonly ListedFile[]>
  /** All files that can be modules, and the configuration, with the specifiers of the vals that they import. */
  listModules(branchId: string, version: number): Promise<readonly VersionModule[]>
}

/** Whether a program can have the file at this path as a module. */
export function isModulePath(path: string): boolean {
  return /(?:^|\/)[^/.]+$|\.(?:[cm]?[jt]sx?|json)$/.test(path)
}

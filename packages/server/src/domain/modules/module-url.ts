/** The path of the code of a val that was created with its code. */
export const entryPath = "main.tsx"

/** A file in a version of a branch. */
interface VersionedFile {
  readonly version: number
  readonly branchName: string
  readonly path: string
}

/**
 * The address of a file in a version, which never means another text. Inside a program it is the
 * identity of the module, so that relative imports stay in the version. `module` is the address of
 * the val.
 */
export function toModuleUrl(module: string, { version, branchName, path }: VersionedFile): string {
  return `${module}@${version}-${branchName}/${path}`
}

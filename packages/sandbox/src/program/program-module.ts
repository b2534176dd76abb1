/** The language of a module. Deno transpiles TypeScript and JSX. */
export type ModuleType = "tsx" | "ts" | "jsx" | "js" | "json"

/** The type of a file that is imported as text or bytes only. */
export const textType = "text"

/** A module and the address by which it is imported. */
export interface ProgramModule {
  readonly url: string
  readonly code: string
  /** Absent for TypeScript with JSX. */
  readonly type?: ModuleType | typeof textType
  /** Whose code it is. Absent for code that is not a user's. */
  readonly ownerId?: string | undefined
  /** The URL of the module that this one is; it has no code of its own then. */
  readonly location?: string
}

/** The language of the file at a path. One without an extension may be anything. */
export function toModuleType(path: string): ModuleType {
  const [, ending = "tsx"] = /\.[cm]?(ts|tsx|js|jsx|json)$/.exec(path) ?? []
  return ending as ModuleType
}

/** A module and the address by which it is imported. */
export interface ProgramModule {
  readonly url: string
  readonly code: string
  /** False for TypeScript with JSX, which is transpiled in each process. */
  readonly isJavaScript?: boolean
}

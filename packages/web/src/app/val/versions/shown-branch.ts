/** The branch whose versions are shown. */
export interface ShownBranch {
  readonly valId: string
  readonly id: string
  readonly name: string
  /** Its newest version. */
  readonly version: number
  readonly isMain: boolean
}

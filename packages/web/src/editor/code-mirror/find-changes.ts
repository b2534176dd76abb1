import { diff } from "@codemirror/merge"

export interface Change {
  readonly from: number
  readonly to: number
  readonly insert: string
}

const limits = {
  /** The user waits: what is not compared by then is replaced as a whole. */
  diffMsMax: 50,
  diffScanMax: 500,
}

/** The changes that turn a text into another. Marks and cursors around them stay. */
export function findChanges(before: string, after: string): readonly Change[] {
  const found = diff(before, after, { scanLimit: limits.diffScanMax, timeout: limits.diffMsMax })
  return found.map(({ fromA, toA, fromB, toB }) => ({
    from: fromA,
    to: toA,
    insert: after.slice(fromB, toB),
  }))
}

import { diff } from "@codemirror/merge"

export interface Change {
  readonly from: number
  readonly to: number
  readonly insert: string
}

const limits = {
  /**
   * Whoever waits for it is at the keyboard. What has not been compared by then is replaced as a
   * whole.
   */
  diffMsMax: 50,
  diffScanMax: 500,
}

/**
 * What to replace in a text to make another of it. Everything around it keeps its marks and
 * cursors.
 */
export function findChanges(before: string, after: string): readonly Change[] {
  const found = diff(before, after, { scanLimit: limits.diffScanMax, timeout: limits.diffMsMax })
  return found.map(({ fromA, toA, fromB, toB }) => ({
    from: fromA,
    to: toA,
    insert: after.slice(fromB, toB),
  }))
}

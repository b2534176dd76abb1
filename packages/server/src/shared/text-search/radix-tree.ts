/** A part of a text that some of the tree's texts have in common, and what may come after it. */
interface Branch {
  readonly text: string
  readonly from: number
  to: number
  branches: Map<number, Branch>
}

/**
 * Texts, so that the longest common beginning with any of them is found in the time it takes to
 * read it.
 */
export class RadixTree {
  readonly #root: Branch = { text: "", from: 0, to: 0, branches: new Map() }

  /** Adds what stands in the text from there on. */
  add(text: string, from: number): void {
    let branch = this.#root
    for (let at = from; at < text.length; ) {
      const next = branch.branches.get(text.charCodeAt(at))
      if (!next) {
        branch.branches.set(text.charCodeAt(at), {
          text,
          from: at,
          to: text.length,
          branches: new Map(),
        })
        return
      }
      const common = countCommon(next, text, at)
      if (next.from + common < next.to) split(next, next.from + common)
      at += common
      branch = next
    }
  }

  /**
   * How many units of the text, from there on and before `end`, are the beginning of an added text.
   */
  countCommon(text: string, from: number, end: number): number {
    let at = from
    for (let branch = this.#root.branches.get(text.charCodeAt(at)); branch && at < end; ) {
      const common = countCommon(branch, text, at)
      at += common
      if (branch.from + common < branch.to) break
      branch = branch.branches.get(text.charCodeAt(at))
    }
    return Math.min(at, end) - from
  }
}

function countCommon({ text: own, from, to }: Branch, text: string, at: number): number {
  const max = Math.min(to - from, text.length - at)
  let common = 0
  while (common < max && own.charCodeAt(from + common) === text.charCodeAt(at + common)) common++
  return common
}

/** The branch ends there, and one that has the rest of it comes after it. */
function split(branch: Branch, at: number): void {
  const rest: Branch = { text: branch.text, from: at, to: branch.to, branches: branch.branches }
  branch.to = at
  branch.branches = new Map([[rest.text.charCodeAt(at), rest]])
}

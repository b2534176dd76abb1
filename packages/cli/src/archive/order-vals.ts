/** A val and the names of the vals that it may import. */
export interface LinkedVal {
  readonly name: string
  readonly imports: readonly string[]
}

/** Sorts vals so that imported ones come first. Cycles are broken at an arbitrary val. */
export function orderVals<Val extends LinkedVal>(vals: readonly Val[]): readonly Val[] {
  const byName = new Map(vals.map((val) => [val.name.toLowerCase(), val]))
  const ordered = new Set<Val>()
  const begun = new Set<Val>()
  for (const val of vals) {
    // An explicit stack: a chain of imports may exceed the call stack.
    const stack = [{ val, next: 0 }]
    while (stack.length > 0) {
      const top = stack.at(-1) as { val: Val; next: number }
      begun.add(top.val)
      const name = top.val.imports[top.next]
      top.next += 1
      if (name === undefined) {
        ordered.add(top.val)
        stack.pop()
        continue
      }
      const imported = byName.get(name)
      if (imported && !begun.has(imported)) stack.push({ val: imported, next: 0 })
    }
  }
  return [...ordered]
}

/**
 * The names of vals that the code may import, in lower case: from a URL that ends in `/v/ada/hello`
 * or from a file beside it. A guess is enough: the server links vals in any order, but in a good
 * order no val exists before its imports.
 */
export function findImportedNames(code: string): readonly string[] {
  const names = new Set<string>()
  for (const [, specifier = ""] of code.matchAll(specifierPattern)) {
    const name = addressPattern.exec(specifier)?.[1] ?? besidePattern.exec(specifier)?.[1]
    if (name !== undefined) names.add(name.toLowerCase())
  }
  return [...names]
}

const specifierPattern = /\b(?:from|import)\s{0,20}\(?\s{0,20}["'`]([^"'`\n]{1,500})["'`]/g
const addressPattern = /\/v\/@?[a-zA-Z]\w*\/([a-zA-Z]\w*)/
const besidePattern = /^\.{1,2}\/(?:[^/]+\/)?([a-zA-Z]\w*)(?:\.tsx?)?$/

/**
 * What a rule of tidiness looks at: a tree and the files in it, as paths from its root. It returns
 * a sentence for each thing amiss.
 */
export type Tree = { readonly root: string; readonly files: readonly string[] }

/**
 * The modules of Node that the code mentions, without `node:`. A mention that is no import does no
 * harm: the guest prepares a module that the val does not use.
 */
export function listBuiltIns(modules: readonly { readonly code: string }[]): string[] {
  const names = new Set<string>()
  for (const { code } of modules)
    if (code.includes("node:")) for (const [, name = ""] of code.matchAll(mention)) names.add(name)
  return [...names]
}

const mention = /["'`]node:([a-z0-9_]+)/g

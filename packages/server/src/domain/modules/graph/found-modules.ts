/** Collects modules and the URLs of each, up to a limit. */
export function createFound<Module extends { readonly url: string }>(
  entry: Module,
  modulesMax: number,
) {
  const modules = new Map([[entry.url, entry]])
  const redirects = new Map<string, Module>()
  return {
    modules,
    redirects,
    /** Returns the module if it is new. A URL that is known keeps its meaning. */
    add({ url, module }: { readonly url: string; readonly module: Module }): Module | undefined {
      if (modules.has(url) || redirects.has(url)) return undefined
      const isKnown = modules.has(module.url)
      const added = (isKnown ? 0 : 1) + (url === module.url ? 0 : 1)
      if (modules.size - 1 + redirects.size + added > modulesMax) return undefined
      if (url !== module.url) redirects.set(url, module)
      if (isKnown) return undefined
      modules.set(module.url, module)
      return module
    },
  }
}

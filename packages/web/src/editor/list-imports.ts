/** Lists what code imports. Import it with `import()` only: it includes the parser of the editor. */
import { tsxLanguage } from "@codemirror/lang-javascript"

/** The specifiers that code imports from, without those of types: these are not loaded at run time. */
export function listImports(code: string): readonly string[] {
  const found: string[] = []
  tsxLanguage.parser.parse(code).iterate({
    enter({ name, node }) {
      if (name !== "String") return
      const before = node.prevSibling?.name
      const isStatic = before === "from" || before === "import"
      const isDynamic = node.parent?.name === "DynamicImport"
      if (!(isStatic || isDynamic) || node.parent?.getChild("type")) return
      found.push(code.slice(node.from + 1, node.to - 1))
    },
  })
  return found
}

/** The line that imports a val. Names of vals may have dashes, those of variables may not. */
export function toImportLine(name: string, address: string): string {
  const variable = name.replace(/-+(.?)/g, (_, letter: string) => letter.toUpperCase())
  return `import ${variable} from "${address}"`
}

/** A rule for `refine`: limits the nesting of arrays and objects. */
export function atMostLevels(levelsMax: number): [(value: unknown) => boolean, string] {
  return [
    (value) => !isDeeper(value, levelsMax),
    `must not be nested more than ${levelsMax} levels deep`,
  ]
}

/** Level by level instead of recursively, because the nesting may exceed the stack. */
function isDeeper(value: unknown, levelsMax: number): boolean {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter(
      (inner): inner is object => typeof inner === "object" && inner !== null,
    )
    if (containers.length > 0 && depth === levelsMax) return true
    level = containers.flatMap((inner) => Object.values(inner))
  }
  return false
}

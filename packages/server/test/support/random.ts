/**
 * The seed of everything that tests choose at random. `npm test` always uses the same, so that a
 * commit passes or fails; `npm run long-test` chooses a new one and prints it.
 */
export const testSeed = Number(
  process.env.HAMLET_TEST_SEED ?? Math.trunc(Math.random() * 0x7fffffff),
)

/** Numbers from 0 to 1 that look random: the same ones for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

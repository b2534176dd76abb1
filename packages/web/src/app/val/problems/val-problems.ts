import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { typeService } from "../code/type-service.ts"
import type { ValEditing } from "../code/val-editing.ts"
import type { EditedFile } from "../files/edited-file.ts"
import { joinProblems } from "./join-problems.ts"
import { type FileProblem, toFileProblem } from "./to-file-problem.ts"

const limits = {
  /** How long nothing is typed before all files are checked. */
  pauseMs: 1_200,
  filesMax: 50,
}

/** The problems of all files of a val, as they are in the editor. */
export class ValProblems {
  /** By file and line. */
  readonly all: ReadonlySignal<readonly FileProblem[]>
  /** How many problems the file at a path has; files without any are left out. */
  readonly countByPath: ReadonlySignal<ReadonlyMap<string, number>>
  readonly #editing: ValEditing
  readonly #toDocument: (path: string) => string
  /** What the type service has found. */
  readonly #found: Signal<ReadonlyMap<EditedFile, readonly FileProblem[]>> = signal(new Map())
  /** The type service sends a text once, as long as it is the same object. */
  readonly #texts = new Map<EditedFile, { readonly text: string; toString(): string }>()
  readonly #unfollow: (() => void)[]
  #timer: ReturnType<typeof setTimeout> | undefined
  #turn = 0

  /** `toDocument` names a file as the type service knows it. */
  constructor(editing: ValEditing, toDocument: (path: string) => string) {
    this.#editing = editing
    this.#toDocument = toDocument
    this.all = computed(() =>
      joinProblems(
        [...this.#found.value].flatMap(([file, problems]) =>
          file.isDeleted.value ? [] : problems.map((one) => ({ ...one, path: file.path.value })),
        ),
        editing.problems.value.filter(({ path }) => !this.#isOutdated(path)),
      ),
    )
    this.countByPath = computed(() => {
      const counts = new Map<string, number>()
      for (const { path } of this.all.value)
        if (path !== undefined) counts.set(path, (counts.get(path) ?? 0) + 1)
      return counts
    })
    this.#unfollow = [
      effect(() => {
        for (const file of this.#listCode()) void file.text.value
        this.#checkLater()
      }),
      typeService.onChange(() => this.#checkLater()),
    ]
  }

  stop(): void {
    this.#turn += 1
    clearTimeout(this.#timer)
    for (const end of this.#unfollow) end()
  }

  #listCode(): readonly EditedFile[] {
    return this.#editing.files.present.value
      .filter((file) => file.isCode && /\.[jt]sx?$/.test(file.path.value))
      .slice(0, limits.filesMax)
  }

  /** A problem of the saved file, whose text has changed and was checked since. */
  #isOutdated(path: string | undefined): boolean {
    const file = this.#editing.files.present.value.find((one) => one.path.value === path)
    return file?.isDirty.value === true && this.#found.value.has(file)
  }

  #checkLater(): void {
    this.#turn += 1
    clearTimeout(this.#timer)
    const turn = this.#turn
    this.#timer = setTimeout(() => void this.#check(turn), limits.pauseMs)
  }

  /** One file after the other, so that a completion waits for one of them at most. */
  async #check(turn: number): Promise<void> {
    const files = this.#listCode()
    const found = new Map<EditedFile, readonly FileProblem[]>()
    for (const file of files) {
      const text = file.text.peek()
      if (text === undefined) continue
      const path = this.#toDocument(file.path.peek())
      const problems = await typeService.query(path, this.#toSent(file, text), "diagnose", {})
      if (turn !== this.#turn) return
      if (problems)
        found.set(
          file,
          problems.map((problem) => toFileProblem(file.path.peek(), text, problem)),
        )
    }
    this.#found.value = found
  }

  #toSent(file: EditedFile, text: string) {
    const sent = this.#texts.get(file)
    if (sent?.text === text) return sent
    const next = { text, toString: () => text }
    this.#texts.set(file, next)
    return next
  }
}

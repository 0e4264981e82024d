// The warnings of one request, in the order in which they were given. They become `Warning` headers of the response.

export class Warnings {
  #texts: string[] | undefined

  get texts(): readonly string[] {
    return this.#texts ?? NONE
  }

  add(text: string): void {
    if (this.#texts) this.#texts.push(text)
    else this.#texts = [text]
  }

  /** The present length, for `reset`. */
  mark(): number {
    return this.#texts?.length ?? 0
  }

  /** Drops what was added after the mark: the warnings of an attempt that is made again. */
  reset(mark: number): void {
    if (this.#texts && this.#texts.length > mark) this.#texts.length = mark
  }
}

const NONE: readonly string[] = []

// The warnings of one request, in the order in which they were given. They become `Warning` headers of the response.

export class Warnings {
  private given: string[] | undefined

  get texts(): readonly string[] {
    return this.given ?? NONE
  }

  add(text: string): void {
    if (this.given) this.given.push(text)
    else this.given = [text]
  }

  /** The present length, for `reset`. */
  mark(): number {
    return this.given?.length ?? 0
  }

  /** Drops what was added after the mark: the warnings of an attempt that is made again. */
  reset(mark: number): void {
    if (this.given && this.given.length > mark) this.given.length = mark
  }
}

const NONE: readonly string[] = []

// Decides where a transaction is committed: on lmdb's thread, or in the event loop.
//
// On its thread, a commit holds up nothing else, but it takes two changes of threads and several turns of the event loop:
// on a fast disk more than the commit itself, and on a busy machine many times that. So the commit of a single small write
// is done at once, as long as the disk is fast. Several writes at once always go to the thread, since the next
// requests are processed meanwhile. So does a single write after several: the clients of these are about to send their next
// ones.

export interface CommitPace {
  /** Whether a commit of so many writes and bytes is done in the event loop. */
  isAtOnce(writes: number, bytes: number): boolean
  /** A commit in the event loop took this long. */
  took(milliseconds: number): void
}

/** The event loop may stand still for about this long. */
const BRIEF_MS = 2
const SMALL_BYTES = 64 * 1024
/** After a slow commit, the disk is tried again later, the slower the later: 5 ms are forgotten after 9 commits. */
const FORGET = 0.9

export function createCommitPace(): CommitPace {
  /** What a commit is expected to take at most. */
  let expected = 0
  let writesBefore = 0
  return {
    isAtOnce(writes, bytes) {
      const isAlone = writes === 1 && writesBefore <= 1
      writesBefore = writes
      if (!isAlone || bytes > SMALL_BYTES) return false
      expected *= FORGET
      return expected < BRIEF_MS
    },
    took(milliseconds) {
      expected = Math.max(expected, milliseconds)
    },
  }
}

// A set of revisions, as bits: the revisions of one kind are mostly close together.
import type { Revision } from '../../storage/store.js'

export interface RevisionSet {
  has(revision: Revision): boolean
  add(revision: Revision): void
}

const BLOCK = 4096
/** Half a kilobyte each. If there are more, the oldest are dropped. */
const MAX_BLOCKS = 4096

export function createRevisionSet(maxBlocks = MAX_BLOCKS): RevisionSet {
  const blocks = new Map<number, Uint8Array>()
  return {
    has(revision) {
      const block = blocks.get(Math.floor(revision / BLOCK))
      const bit = revision % BLOCK
      return block !== undefined && (block[bit >> 3]! & (1 << (bit & 7))) !== 0
    },
    add(revision) {
      const at = Math.floor(revision / BLOCK)
      let block = blocks.get(at)
      if (!block) {
        if (blocks.size >= maxBlocks) blocks.delete(blocks.keys().next().value!)
        blocks.set(at, (block = new Uint8Array(BLOCK / 8)))
      }
      const bit = revision % BLOCK
      block[bit >> 3]! |= 1 << (bit & 7)
    },
  }
}

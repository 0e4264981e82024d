// The Huffman code of HPACK (RFC 7541, appendix B). The code is canonical, so that the lengths of its codes define it:
// shorter codes come first, and codes of one length are in the order of their symbols.

/** The length of the code of each octet. */
const LENGTHS = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26,
]
const EOS = 256
const EOS_LENGTH = 30

const NONE = -1

/** For each state and the next four bits: the state after them. No code is shorter than five bits. */
interface Automaton {
  readonly next: Int16Array
  /** The octet that is complete then, or -1. */
  readonly symbol: Int16Array
  /** Whether the text may end in a state: it is followed by less than 8 bits, all of them 1. */
  readonly mayEnd: Uint8Array
}

let built: Automaton | undefined

/** Built at the first use, since many connections need none. */
const automaton = (): Automaton => (built ??= build(treeOf()))

type Tree = [zero: Tree | number, one: Tree | number]

function treeOf(): Tree {
  const symbols = [...LENGTHS.keys(), EOS]
  const lengthOf = (symbol: number): number => LENGTHS[symbol] ?? EOS_LENGTH
  symbols.sort((a, b) => lengthOf(a) - lengthOf(b) || a - b)
  const root: Tree = [NONE, NONE]
  let code = 0
  let length = lengthOf(symbols[0]!)
  for (const symbol of symbols) {
    code *= 2 ** (lengthOf(symbol) - length)
    length = lengthOf(symbol)
    insert(root, code, length, symbol)
    code++
  }
  return root
}

function insert(root: Tree, code: number, length: number, symbol: number): void {
  let node = root
  for (let bit = length - 1; bit > 0; bit--) {
    const side = (code >>> bit) & 1
    if (typeof node[side] === 'number') node[side] = [NONE, NONE]
    node = node[side] as Tree
  }
  node[code & 1] = symbol
}

function build(root: Tree): Automaton {
  const states: Tree[] = [root]
  const indexes = new Map<Tree, number>([[root, 0]])
  for (const state of states) {
    for (const side of state) {
      if (typeof side === 'number') continue
      indexes.set(side, states.length)
      states.push(side)
    }
  }
  const next = new Int16Array(states.length * 16)
  const symbol = new Int16Array(states.length * 16).fill(NONE)
  for (const [i, state] of states.entries()) {
    for (let bits = 0; bits < 16; bits++) {
      const at = i * 16 + bits
      let node = state
      for (let bit = 3; bit >= 0; bit--) {
        const side = node[(bits >>> bit) & 1]!
        if (typeof side !== 'number') node = side
        else {
          symbol[at] = side
          node = root
        }
      }
      next[at] = indexes.get(node)!
    }
  }
  const mayEnd = new Uint8Array(states.length)
  let padding = root
  for (let bits = 0; bits < 8; bits++) {
    mayEnd[indexes.get(padding)!] = 1
    padding = padding[1] as Tree
  }
  return { next, symbol, mayEnd }
}

let scratch = Buffer.allocUnsafeSlow(4096)

/** The octets as the characters of a string; undefined if they are not encoded correctly. */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string | undefined {
  const { next, symbol, mayEnd } = automaton()
  // The shortest code has five bits.
  const most = ((end - start) * 8) / 5
  if (scratch.length < most) scratch = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(most)))
  let state = 0
  let length = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    for (const bits of [byte >>> 4, byte & 15]) {
      const at = state * 16 + bits
      const decoded = symbol[at]!
      if (decoded === EOS) return undefined
      if (decoded !== NONE) scratch[length++] = decoded
      state = next[at]!
    }
  }
  return mayEnd[state] === 1 ? scratch.toString('latin1', 0, length) : undefined
}

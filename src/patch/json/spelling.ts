// Spellings of scalars in JSON. kube-apiserver compares the `value` of a JSON Patch's `test` with the object byte by
// byte at the leaves, so that 1 is not 1.0, and "<b>" as most clients write it is not "\u003cb\u003e" as Go writes it.
// An object is spelled as the server encodes it; the values of a patch are spelled as the client wrote them.
import { WholeFloat } from '../../meta/values/value.js'
import { copyTree, isTreeObject, type Leaf, Spelled, setMember, type Tree, type TreeObject } from './tree.js'

/** The scalar as the server encodes it. */
export function serverSpelling(leaf: Leaf): string {
  if (typeof leaf === 'string') return JSON.stringify(leaf).replace(ESCAPED_BY_GO, escapeForGo)
  if (leaf instanceof WholeFloat) return String(leaf.value)
  return String(leaf)
}

const ESCAPED_BY_GO = /[<>&\u2028\u2029]/g
const escapeForGo = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Equal in structure, and at the leaves in spelling. The order of members is ignored. */
export function equalSpelling(a: Tree, b: Tree): boolean {
  const pending: [Tree, Tree][] = [[a, b]]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [left, right] = next
    if (Array.isArray(left)) {
      if (!Array.isArray(right) || left.length !== right.length) return false
      for (let i = 0; i < left.length; i++) pending.push([left[i]!, right[i]!])
    } else if (isTreeObject(left)) {
      if (!isTreeObject(right)) return false
      const keys = Object.keys(left)
      if (keys.length !== Object.keys(right).length) return false
      for (const key of keys) {
        if (!Object.hasOwn(right, key)) return false
        pending.push([left[key]!, right[key]!])
      }
    } else if (Array.isArray(right) || isTreeObject(right) || !equalLeaves(left, right)) return false
  }
  return true
}

const equalLeaves = (a: Leaf | Spelled, b: Leaf | Spelled): boolean => a === b || spellingOf(a) === spellingOf(b)

const spellingOf = (leaf: Leaf | Spelled): string => (leaf instanceof Spelled ? leaf.text : serverSpelling(leaf))

/** A copy as `copy` makes it: the server's encoder escapes characters that the client had not escaped. */
export const copyForServer = (tree: Tree): Tree =>
  copyTree(tree, {
    leaf: leaf => (leaf instanceof Spelled ? spelled(leaf.value, leaf.text.replace(ESCAPED_BY_GO, escapeForGo)) : leaf),
  })

/** The length in bytes of the tree in JSON; any number above `limit` if it is longer than that. */
export function encodedSize(tree: Tree, limit: number): number {
  let size = 0
  const pending: Tree[] = [tree]
  for (let part = pending.pop(); part !== undefined && size <= limit; part = pending.pop()) {
    if (Array.isArray(part)) {
      size += 2 + Math.max(0, part.length - 1)
      for (const item of part) pending.push(item)
    } else if (isTreeObject(part)) {
      const keys = Object.keys(part)
      size += 2 + Math.max(0, keys.length - 1)
      for (const key of keys) {
        size += Buffer.byteLength(serverSpelling(key)) + 1
        pending.push(part[key]!)
      }
    } else size += Buffer.byteLength(spellingOf(part).replace(ESCAPED_BY_GO, escapeForGo))
  }
  return size
}

/** A decoded value as most clients would have spelled it, if the body itself is not at hand. */
export const spellAsClient = (tree: Tree): Tree =>
  copyTree(tree, {
    leaf: leaf => {
      if (typeof leaf === 'string') return spelled(leaf, JSON.stringify(leaf))
      if (!(leaf instanceof WholeFloat)) return leaf
      const digits = String(leaf.value)
      return spelled(leaf, digits.includes('e') ? digits : `${digits}.0`)
    },
  })

/** The value of a JSON document with its spellings. The text was decoded before, so that it is valid JSON. */
export function readSpelled(text: string): Tree {
  const open: (Tree[] | TreeObject)[] = []
  let root: Tree = null
  let name = ''
  let nameIsNext = false
  const place = (tree: Tree): void => {
    const holder = open.at(-1)
    if (holder === undefined) root = tree
    else if (Array.isArray(holder)) holder.push(tree)
    else setMember(holder, name, tree)
  }
  for (let at = 0; at < text.length; ) {
    const sign = text[at]!
    if (sign === '{' || sign === '[') {
      const holder = sign === '{' ? {} : []
      place(holder)
      open.push(holder)
      nameIsNext = sign === '{'
      at++
    } else if (sign === '}' || sign === ']') {
      open.pop()
      at++
    } else if (sign === ',' || sign === ':') {
      nameIsNext = sign === ',' && !Array.isArray(open.at(-1))
      at++
    } else if (BLANK.includes(sign)) {
      at++
    } else {
      const end = sign === '"' ? endOfString(text, at) : endOfWord(text, at)
      const literal = text.slice(at, end)
      if (nameIsNext) name = decodeString(literal)
      else if (sign === '"' && !SPELLED_FREELY.test(literal)) place(literal.slice(1, -1))
      else place(spelled(decodeScalar(literal), literal))
      at = end
    }
  }
  return root
}

/** Without these characters the spellings of client and server cannot differ. */
const SPELLED_FREELY = /[\\<>&\u2028\u2029]/

const BLANK = ' \t\r\n'
const AFTER_WORD = `${BLANK},]}`

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function endOfWord(text: string, start: number): number {
  let at = start
  while (at < text.length && !AFTER_WORD.includes(text[at]!)) at++
  return at
}

/** Keeps a spelling only if it differs from the server's. */
const spelled = (value: Leaf, text: string): Leaf | Spelled =>
  text === serverSpelling(value) ? value : new Spelled(value, text)

const decodeString = (literal: string): string => (JSON.parse(literal) as string).toWellFormed()

function decodeScalar(literal: string): Leaf {
  if (literal === 'null') return null
  if (literal === 'true' || literal === 'false') return literal === 'true'
  if (literal.startsWith('"')) return decodeString(literal)
  const number = Number(literal)
  if (!Number.isInteger(number)) return number
  if (/[.eE]/.test(literal)) return new WholeFloat(number)
  if (Number.isSafeInteger(number)) return number === 0 ? 0 : number
  const exact = BigInt(literal)
  return BigInt.asIntN(64, exact) === exact ? exact : new WholeFloat(number)
}

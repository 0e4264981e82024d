// Where each value of a YAML document stands: the same events that the decoder gets, kept as a tree of positions. It is
// read only when a message needs a position, so that decoding costs nothing more.
import { YamlParser } from './parser.js'
import { readYamlText } from './reader.js'

/** Lines and columns are counted from 0; columns in UTF-16 units. */
export interface Position {
  readonly line: number
  readonly column: number
}

export interface YamlNode extends Position {
  /** Of a member of a mapping: where its key stands. */
  readonly key?: Position | undefined
  /** The members of a mapping; of a key that occurs more than once, the last one. */
  readonly members?: ReadonlyMap<string, YamlNode> | undefined
  readonly items?: readonly YamlNode[] | undefined
}

interface OpenNode extends Position {
  readonly anchor: string
  readonly members: Map<string, YamlNode> | undefined
  readonly items: YamlNode[] | undefined
  /** The key of a mapping whose value comes next. */
  key: { readonly text: string; readonly at: Position } | undefined
}

/** The positions in the first document; undefined if it is empty. Throws a CodecError where decoding throws one. */
export function locateYaml(bytes: Uint8Array): YamlNode | undefined {
  const parser = new YamlParser(readYamlText(bytes))
  if (!parser.startDocument()) return undefined
  const open: OpenNode[] = []
  const anchors = new Map<string, YamlNode>()
  for (;;) {
    const event = parser.next()
    if (event.type === 'start') {
      const { line, column, anchor, kind } = event
      const isMapping = kind === 'mapping'
      open.push({
        line,
        column,
        anchor,
        members: isMapping ? new Map() : undefined,
        items: isMapping ? undefined : [],
        key: undefined,
      })
      continue
    }
    let node: YamlNode
    let anchor = ''
    let text = ''
    if (event.type === 'end') {
      const { line, column, members, items, anchor: name } = open.pop()!
      node = { line, column, members, items }
      anchor = name
    } else {
      const { line, column } = event
      const target = event.type === 'alias' ? anchors.get(event.name) : undefined
      node = { ...target, line, column, key: undefined }
      if (event.type === 'scalar') ({ anchor, text } = event)
    }
    if (anchor !== '') anchors.set(anchor, node)
    const parent = open.at(-1)
    if (parent === undefined) return node
    add(parent, node, text)
  }
}

function add(parent: OpenNode, node: YamlNode, text: string): void {
  const { items, members, key } = parent
  if (items !== undefined) {
    items.push(node)
  } else if (key === undefined) {
    parent.key = { text, at: node }
  } else {
    parent.key = undefined
    if (key.text === '<<') merge(members!, node)
    else members!.set(key.text, { ...node, key: key.at })
  }
}

/** Merged members stand where they are written. */
function merge(members: Map<string, YamlNode>, { members: merged, items = [] }: YamlNode): void {
  for (const [name, node] of merged ?? []) if (!members.has(name)) members.set(name, node)
  for (const each of items)
    for (const [name, node] of each.members ?? []) if (!members.has(name)) members.set(name, node)
}

// What stands in a part of an object, for a first look: plain values by their path, lists by what is in them.

export interface SummaryEntry {
  readonly path: string
  readonly text: string
}

const MAX_ENTRIES = 24
const MAX_DEPTH = 3
const MAX_TEXT = 300

export function summarize(value: unknown): readonly SummaryEntry[] {
  const entries: SummaryEntry[] = []
  const visit = (each: unknown, path: string, depth: number): void => {
    if (entries.length >= MAX_ENTRIES) return
    const members = isMap(each) ? Object.entries(each) : []
    if (members.length > 0 && depth < MAX_DEPTH) {
      for (const [name, member] of members) visit(member, path === '' ? name : `${path}.${name}`, depth + 1)
    } else if (path !== '') entries.push({ path, text: textOf(each).slice(0, MAX_TEXT) })
  }
  visit(value, '', 0)
  return entries
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function textOf(value: unknown): string {
  if (Array.isArray(value)) {
    const names = value.map(item => nameOf(item))
    const count = `${value.length} item${value.length === 1 ? '' : 's'}`
    return names.every(name => name !== undefined) && names.length > 0 ? names.join(', ') : count
  }
  if (isMap(value)) return Object.keys(value).length === 0 ? '{}' : `{ ${Object.keys(value).join(', ')} }`
  return String(value)
}

/** What an item of a list is called: a plain value by itself, a map by its name or type. */
function nameOf(item: unknown): string | undefined {
  if (!isMap(item)) return Array.isArray(item) ? undefined : String(item)
  const name = item['name'] ?? item['type']
  return typeof name === 'string' ? name : undefined
}

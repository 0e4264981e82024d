// The extension library of strings, version 2.
import { CelError } from '../cel-error.js'
import { type CelType, DYN, INT, listOf, STRING } from '../check/cel-type.js'
import { add, type Interval, multiply, STRING_TRAVERSAL, scale, traversal, UNBOUNDED } from '../cost/cost-intervals.js'
import { countCodePoints, type WorkBudget } from '../cost/work-budget.js'
import type { CountedImplementation, FunctionDeclaration, Library, Overload } from '../environment.js'
import { type Int, isInt } from '../values/numbers.js'
import { costSize, itemsOf, type List, type Value } from '../values/values.js'
import { formatString } from './string-format.js'
import { indexIn, lastIndexIn, splitText } from './text-search.js'
import { traversalCost } from './traversal-cost.js'

const member = (
  id: string,
  params: readonly CelType[],
  result: CelType,
  countedCall: CountedImplementation,
  costs: Pick<Overload, 'cost' | 'resultCost' | 'estimate'> = {},
): Overload => ({ id, member: true, params, result, countedCall, ...costs })

/** One pass over the target, whose size is also that of the result. */
const onePass: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text], budget) => Math.ceil(costSize(text!, budget) * STRING_TRAVERSAL),
  estimate: ({ target }) => ({ cost: traversal(target!.size), resultSize: target!.size }),
}

/** One pass to read and one to write. */
const twoPasses: NonNullable<Overload['cost']> = ([text], budget) =>
  Math.ceil(costSize(text!, budget) * 2 * STRING_TRAVERSAL)

const searchCost: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text], budget) => traversalCost(text!, budget),
  estimate: ({ target }) => ({ cost: traversal(target!.size) }),
}

const STRINGS: readonly FunctionDeclaration[] = [
  { name: 'charAt', overloads: [member('string_char_at_int', [STRING, INT], STRING, charAt as CountedImplementation)] },
  {
    name: 'indexOf',
    overloads: [
      member(
        'string_index_of_string',
        [STRING, STRING],
        INT,
        (budget, s, sub) => indexOf(budget, s, sub, 0),
        searchCost,
      ),
      member('string_index_of_string_int', [STRING, STRING, INT], INT, indexOf, searchCost),
    ],
  },
  {
    name: 'lastIndexOf',
    overloads: [
      member(
        'string_last_index_of_string',
        [STRING, STRING],
        INT,
        (budget, s, sub) => lastIndexOf(budget, s, sub),
        searchCost,
      ),
      member('string_last_index_of_string_int', [STRING, STRING, INT], INT, lastIndexOf, searchCost),
    ],
  },
  {
    name: 'lowerAscii',
    overloads: [
      member(
        'string_lower_ascii',
        [STRING],
        STRING,
        (_, s) => changeCase(s as string, /[A-Z]+/g, x => x.toLowerCase()),
        onePass,
      ),
    ],
  },
  {
    name: 'upperAscii',
    overloads: [
      member(
        'string_upper_ascii',
        [STRING],
        STRING,
        (_, s) => changeCase(s as string, /[a-z]+/g, x => x.toUpperCase()),
        onePass,
      ),
    ],
  },
  {
    name: 'replace',
    overloads: [
      member(
        'string_replace_string_string',
        [STRING, STRING, STRING],
        STRING,
        (budget, s, from, to) => replace(budget, s, from, to, -1),
        {
          cost: twoPasses,
          estimate: replaceEstimate,
        },
      ),
      member('string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING, replace, {
        cost: twoPasses,
        estimate: replaceEstimate,
      }),
    ],
  },
  {
    name: 'split',
    overloads: [
      member('string_split_string', [STRING, STRING], listOf(STRING), (budget, s, by) => split(budget, s, by, -1), {
        cost: twoPasses,
        estimate: splitEstimate,
      }),
      member('string_split_string_int', [STRING, STRING, INT], listOf(STRING), split, {
        cost: twoPasses,
        estimate: splitEstimate,
      }),
    ],
  },
  {
    name: 'substring',
    overloads: [
      member('string_substring_int', [STRING, INT], STRING, (budget, s, start) => substring(budget, s, start), onePass),
      member('string_substring_int_int', [STRING, INT, INT], STRING, substring, onePass),
    ],
  },
  { name: 'trim', overloads: [member('string_trim', [STRING], STRING, (_, s) => trim(s as string), onePass)] },
  {
    name: 'format',
    overloads: [
      member(
        'string_format',
        [STRING, listOf(DYN)],
        STRING,
        (budget, s, args) => formatString(budget, s as string, args as List),
        {
          estimate: ({ target }) => ({ cost: traversal(target!.size) }),
        },
      ),
    ],
  },
  {
    name: 'strings.quote',
    overloads: [
      {
        id: 'strings_quote',
        params: [STRING],
        result: STRING,
        countedCall: (budget, s) => quoteString(budget, s as string),
        estimate: ({ args: [arg] }) => ({
          cost: traversal(arg!.size),
          resultSize: { min: arg!.size.min + 2, max: wrapped(arg!.size.max * 2 + 2) },
        }),
      },
    ],
  },
  {
    name: 'join',
    overloads: [
      member('list_join', [listOf(STRING)], STRING, (budget, list) => join(budget, list as List, ''), JOIN_COST()),
      member(
        'list_join_string',
        [listOf(STRING), STRING],
        STRING,
        (budget, list, by) => join(budget, list as List, by as string),
        JOIN_COST(),
      ),
    ],
  },
]

export const STRINGS_LIBRARY: Library = { functions: STRINGS }

function JOIN_COST(): Pick<Overload, 'resultCost' | 'estimate'> {
  return {
    resultCost: (_args, result, budget) => Math.ceil(costSize(result, budget) * 2 * STRING_TRAVERSAL),
    estimate: ({ target, args: [separator], elementOf }) => {
      const list = target!.size
      const element = elementOf(target!)
      let size: Interval = element ? multiply(list, element.size) : { min: 0, max: 0 }
      if (separator) {
        const gaps = { min: Math.max(list.min - 1, 0), max: Math.max(list.max - 1, 0) }
        size = add(size, multiply(separator.size, gaps))
      }
      return { cost: traversal(size), resultSize: size }
    },
  }
}

/** cel-go computes this bound without looking at overflow. */
const wrapped = (value: number): number => (value >= UNBOUNDED ? 0 : value)

const outOfRange = (index: Int): CelError => new CelError(`index out of range: ${index}`)

/** Most strings are ASCII, where characters are where their units are. */
function isAscii(budget: WorkBudget, text: string): boolean {
  budget.chargeReading(text.length * 4)
  return /^[\0-\x7f]*$/.test(text)
}

function characters(budget: WorkBudget, text: string): string | readonly string[] {
  if (isAscii(budget, text)) return text
  budget.charge(text.length / 4)
  return Array.from(text)
}

function charAt(budget: WorkBudget, text: string, index: Int): Value {
  const all = characters(budget, text)
  if (index < 0 || index > all.length) return outOfRange(index)
  return all[Number(index)] ?? ''
}

function indexOf(budget: WorkBudget, text: Value, part: Value, offset: Value): Value {
  const s = text as string
  const sub = part as string
  const from = offset as Int
  const all = characters(budget, s)
  if (sub === '') return from
  if (from < 0) return outOfRange(from)
  // Nothing is found behind the end of the text.
  if (from >= all.length) return -1
  const units = all === s ? Number(from) : unitsOf(s, Number(from))
  return characterOf(s, indexIn(budget, s, sub, units))
}

function lastIndexOf(budget: WorkBudget, text: Value, part: Value, offset?: Value): Value {
  const s = text as string
  const sub = part as string
  const from = offset as Int | undefined
  const { length } = characters(budget, s)
  if (sub === '') return from ?? length
  if (from !== undefined && from < 0) return outOfRange(from)
  if (from !== undefined && from >= length) return -1
  const units = from === undefined || length === s.length ? from : unitsOf(s, Number(from))
  return characterOf(s, lastIndexIn(budget, s, sub, units === undefined ? undefined : Number(units)))
}

/** Where a character begins, in units. */
function unitsOf(text: string, character: number): number {
  let units = 0
  for (let i = 0; i < character; i++) units += text.codePointAt(units)! > 0xffff ? 2 : 1
  return units
}

/** Which character begins at a unit; -1 stays what it is. */
const characterOf = (text: string, unit: number): number => (unit <= 0 ? unit : countCodePoints(text.slice(0, unit)))

const changeCase = (text: string, letters: RegExp, change: (found: string) => string): string =>
  text.replace(letters, change)

function replace(budget: WorkBudget, text: Value, from: Value, to: Value, count: Value): Value {
  const s = text as string
  const max = Number(count)
  if (max === 0) return s
  const parts = from === '' ? ['', ...Array.from(s), ''] : splitText(budget, s, from as string)
  budget.chargeWriting(s.length + parts.length * (to as string).length)
  const limit = max < 0 ? parts.length - 1 : Math.min(max, parts.length - 1)
  return (
    parts.slice(0, limit + 1).join(to as string) +
    parts
      .slice(limit + 1)
      .map(part => (from as string) + part)
      .join('')
  )
}

function split(budget: WorkBudget, text: Value, by: Value, count: Value): Value {
  const s = text as string
  const max = Number(count)
  if (max === 0) return []
  const parts = by === '' ? Array.from(s) : splitText(budget, s, by as string)
  if (max < 0 || parts.length <= max) return parts
  return [...parts.slice(0, max - 1), parts.slice(max - 1).join(by as string)]
}

function substring(budget: WorkBudget, text: Value, start: Value, end?: Value): Value {
  const all = characters(budget, text as string)
  const from = start as Int
  const to = (end as Int | undefined) ?? all.length
  if (end !== undefined && from > to) return new CelError(`invalid substring range. start: ${from}, end: ${to}`)
  if (from < 0 || from > all.length) return outOfRange(from)
  if (to < 0 || to > all.length) return outOfRange(to)
  const part = all.slice(Number(from), Number(to))
  return typeof part === 'string' ? part : part.join('')
}

/** Without Unicode's White_Space around it, which JavaScript's trim does not quite have. */
function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text[start]!)) start++
  while (end > start && isSpace(text[end - 1]!)) end--
  return text.slice(start, end)
}

const isSpace = (character: string): boolean => /\p{White_Space}/u.test(character)

function join(budget: WorkBudget, list: List, separator: string): Value {
  const parts: string[] = []
  for (const item of itemsOf(list, budget)) {
    if (typeof item !== 'string') return new CelError('join: invalid input: elements must be strings')
    budget.chargeWriting(item.length + separator.length)
    parts.push(item)
  }
  return parts.join(separator)
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

function quoteString(budget: WorkBudget, text: string): string {
  budget.chargeReading(text.length * 20)
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  return `"${text.toWellFormed().replace(/[\x07\b\f\n\r\t\v\\"]/g, found => ESCAPES[found]!)}"`
}

function replaceEstimate({ target, args }: Parameters<NonNullable<Overload['estimate']>>[0]) {
  const size = target!.size
  const from = args[0]!.size
  const to = args[1]!.size
  const max = { count: 0, kept: 0 }
  // What is replaced may be empty: then the replacement stands around every character.
  if (from.min === 0) {
    max.count = Math.min(size.max + 1, UNBOUNDED)
    max.kept = size.max
  } else if (to.max <= from.min) max.kept = size.max
  else max.count = Math.ceil(size.max / from.min)
  const shortest = { count: 0, kept: 0 }
  if (from.max === 0) {
    shortest.count = size.min + 1
    shortest.kept = size.min
  } else if (from.max <= to.min) shortest.kept = size.min
  else shortest.count = Math.ceil(size.min / from.max)
  const resultSize = add(multiply({ min: shortest.count, max: max.count }, to), {
    min: shortest.kept,
    max: max.kept,
  })
  return { cost: scale(size, 2 * STRING_TRAVERSAL), resultSize }
}

function splitEstimate({ target, args }: Parameters<NonNullable<Overload['estimate']>>[0]) {
  const limit = args[1]?.expr
  const literal = limit?.kind === 'literal' && isInt(limit.value) ? Number(limit.value) : undefined
  // A negative limit is none.
  const max = literal === undefined ? target!.size.max : literal < 0 ? UNBOUNDED : literal
  return { cost: scale(target!.size, 2 * STRING_TRAVERSAL), resultSize: { min: 0, max } }
}

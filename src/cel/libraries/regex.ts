// find and findAll.
import { CelError } from '../cel-error.js'
import { INT, listOf, STRING } from '../check/cel-type.js'
import type { WorkBudget } from '../cost/work-budget.js'
import type { CountedImplementation, Library, Overload } from '../environment.js'
import { chargeMatching, pattern, patternError } from '../values/patterns.js'
import type { Value } from '../values/values.js'
import { matchCost } from './standard.js'

/** Every character may be a match. */
const costs: Pick<Overload, 'cost' | 'estimate' | 'constantError'> = {
  constantError: patternError,
  cost: ([text, expression], budget) => matchCost.cost!([text!, expression!], budget),
  estimate: call => {
    const [expression] = call.args
    const estimate = matchCost.estimate!({ ...call, args: [expression!] })
    return estimate && { ...estimate, resultSize: { min: 0, max: call.target!.size.max } }
  },
}

export const REGEX_LIBRARY: Library = {
  functions: [
    {
      name: 'find',
      overloads: [
        {
          id: 'string_find_string',
          member: true,
          params: [STRING, STRING],
          result: STRING,
          countedCall: find as CountedImplementation,
          ...costs,
        },
      ],
    },
    {
      name: 'findAll',
      overloads: [
        {
          id: 'string_find_all_string',
          member: true,
          params: [STRING, STRING],
          result: listOf(STRING),
          countedCall: (budget, text, expression) => findAll(budget, text as string, expression as string, -1),
          ...costs,
        },
        {
          id: 'string_find_all_string_int',
          member: true,
          params: [STRING, STRING, INT],
          result: listOf(STRING),
          countedCall: (budget, text, expression, limit) =>
            findAll(budget, text as string, expression as string, Number(limit)),
          ...costs,
        },
      ],
    },
  ],
}

function find(budget: WorkBudget, text: string, expression: string): Value {
  const compiled = pattern(expression, budget)
  if (compiled instanceof CelError) return illegal(compiled)
  chargeMatching(compiled, text, budget)
  const matcher = compiled.matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

const MATCH_WORK = 25

/** A negative limit is none. */
function findAll(budget: WorkBudget, text: string, expression: string, limit: number): Value {
  const compiled = pattern(expression, budget)
  if (compiled instanceof CelError) return illegal(compiled)
  chargeMatching(compiled, text, budget)
  const found: string[] = []
  const matcher = compiled.matcher(text)
  let end = -1
  const max = limit < 0 ? Infinity : limit
  for (let more = max > 0 && matcher.find(); more; more = found.length < max && matcher.find()) {
    // An empty match right behind another one does not count.
    if (matcher.start() === matcher.end() && matcher.start() === end) continue
    end = matcher.end()
    budget.charge(MATCH_WORK)
    found.push(matcher.group() ?? '')
  }
  return found
}

const illegal = ({ message }: CelError): CelError => new CelError(`Illegal regex: ${message}`)

import { describe, expect, test } from 'vitest'
import { replayDefinitions } from './recorded-definitions.suite.js'
import { byScenario, replayObjects } from './recorded-objects.suite.js'

describe.each(['crd-schema', 'documented', 'versions', 'cel-eval'])('objects recorded in %s', file => {
  test.each(byScenario(replayObjects(file)))('$scenario', ({ steps }) => {
    for (const { step, expected, actual } of steps) expect({ step, answer: actual }).toEqual({ step, answer: expected })
  })
})

describe.each(['crd-definition', 'crd-schema', 'documented', 'cel-compile'])('schemas recorded in %s', file => {
  test.each(byScenario(replayDefinitions(file)))('$scenario', ({ steps }) => {
    for (const { step, expected, actual } of steps) expect({ step, answer: actual }).toEqual({ step, answer: expected })
  })
})

// The recordings of API versions and kinds that are off by default: every scenario passes with the flags of the reference.
import { expect, test } from 'vitest'
import { startBinnacleProcess } from '../components/binnacle.js'
import { readScenarios, replayAll } from './replay-all.js'

const folder = 'recordings-optional'

test('every scenario of versions that are off by default passes', async () => {
  const server = await startBinnacleProcess(
    '--storage=memory',
    '--runtime-config=api/all=true',
    '--feature-gates=AllBeta=true,CBORServingAndStorage=false',
  )
  try {
    const outcomes = await replayAll({ url: server.url, token: 'admin-token', folder })
    expect(outcomes.size).toBe(readScenarios(folder).length)
    expect([...outcomes].filter(([, difference]) => difference !== undefined)).toEqual([])
  } finally {
    await server.stop()
  }
}, 60_000)

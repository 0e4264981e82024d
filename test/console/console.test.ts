// The console in a real browser. One file, so that all of it shares a server and a Chromium.
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { checkErrors, chromiumMissing, shared, startConsole, TEST_MS } from './browser.js'
import { testBrowsing } from './browsing.js'
import { testLoad } from './load.js'
import { testObjects } from './objects.js'
import { testTools } from './tools.js'
import { createVoyages } from './voyages.js'

describe.skipIf(chromiumMissing())('the console', { timeout: TEST_MS }, () => {
  beforeAll(async () => {
    await startConsole()
    await createVoyages(shared.server)
  }, TEST_MS)
  afterAll(() => shared?.stop())
  afterEach(checkErrors)

  describe('browsing', () => {
    testBrowsing()
  })
  describe('an object', () => {
    testObjects()
  })
  describe('the tools', () => {
    testTools()
  })
  describe('under load', () => {
    testLoad()
  })
})

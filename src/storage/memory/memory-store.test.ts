import { describeStore } from '../store.suite.js'
import { createMemoryStore } from './memory-store.js'

describeStore('the memory store', async () => ({ store: createMemoryStore() }))

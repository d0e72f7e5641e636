package protocol

// end takes a run and its token out of the state.
func (w *world) end(t *State, h Slot) {
	t.setRun(h, Run{})
	t.orphan(h)
	if !w.has(OwnerIsProcess) {
		t.retire(h)
	}
}

// reply is the handler's return.
func (w *world) reply(h Slot) (State, bool) {
	me := w.Run(h)
	if me.At != AtReply {
		return no()
	}
	t := w.State
	w.end(&t, h)
	if h != w.reconciler() && me.Answer.Final() {
		t.tell(Telling{me.Parameters, me.Answer})
	}
	return t, true
}

// replyEarly is the defect of telling first and saving then.
func (w *world) replyEarly(h Slot) (State, bool) {
	me := w.Run(h)
	if me.At != AtComplete || !w.has(ReplyBeforeSave) || h == w.reconciler() {
		return no()
	}
	t := w.State
	t.tell(Telling{me.Parameters, me.Answer})
	return t, true
}

// crash is that a process dies.
func (w *world) crash(h Slot) (State, bool) {
	t := w.State
	if w.idle(h) || !w.spend(&t, 1) {
		return no()
	}
	w.end(&t, h)
	return t, true
}

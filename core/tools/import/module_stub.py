"""Keeps a large module from being loaded for a name or two of it.

Many functions behind PyTorch 2's meta tensors are hidden from torch.compile.  When such a function is first called, it loads torch._dynamo, some
four hundred modules, which takes two to three seconds.  An import compiles nothing.  So a stand-in for this module answers that the function is
called as it is.  A request for anything else loads the module itself."""

import contextlib
import importlib
import importlib.util
import sys
import types


class StandIn(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__") and name != "__path__":  # what is asked of every module, by whoever looks through them all
            raise AttributeError(name)
        return getattr(self.give_way(), name)

    def leave(self):
        """Takes the stand-in out of where it stands."""
        above, _, last = self.__name__.rpartition(".")
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        if vars(sys.modules[above]).get(last) is self:
            delattr(sys.modules[above], last)

    def give_way(self):
        self.leave()
        return importlib.import_module(self.__name__)


@contextlib.contextmanager
def standing_in(name, **given):
    """While it is entered, a stand-in with the given names has the place of the module, unless that is loaded already or cannot be found."""
    above, _, last = name.rpartition(".")
    if name in sys.modules or importlib.util.find_spec(name) is None:
        yield
        return
    stand_in = StandIn(name)
    vars(stand_in).update(given)
    sys.modules[name] = stand_in
    setattr(sys.modules[above], last, stand_in)
    try:
        yield
    finally:
        stand_in.leave()


def no_dynamo():
    return standing_in("torch._dynamo", disable=lambda function=None, *_, **__: function or (lambda other: other))

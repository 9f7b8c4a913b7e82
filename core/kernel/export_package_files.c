/* The files of an exported package in which only names differ between packages (export_package.h). */
#include "kernel/export_package.h"

#include <string.h>

void rkb_export_package_project(const rkb_export_package_t *package, rkb_text_t *out) {
   /* PyTorch is not a dependency of the package, because the library works only with the PyTorch that it was
    * built with, and pip must not fetch another one. */
   rkb_text_format(out,
                   "[build-system]\nrequires = [\"setuptools\", \"wheel\", \"torch\"]\nbuild-backend = \"setuptools.build_meta\"\n\n"
                   "[project]\nname = \"%s\"\nversion = \"%s\"\ndescription = \"CUDA kernels for %s, as a PyTorch operator\"\n"
                   "readme = \"README.md\"\nrequires-python = \">=3.9\"\n\n"
                   "[tool.setuptools]\npackages = [\"%s\"]\n",
                   package->name, package->version, package->task, package->name);
}

void rkb_export_package_setup(const rkb_export_package_t *package, rkb_text_t *out) {
   rkb_text_format(out,
                   "\"\"\"Builds the kernels.  TORCH_CUDA_ARCH_LIST chooses the devices; without it, the one that they were judged for.\"\"\"\n"
                   "import os\n\nfrom setuptools import setup\nfrom torch.utils.cpp_extension import BuildExtension, CUDAExtension\n\n"
                   "os.environ.setdefault(\"TORCH_CUDA_ARCH_LIST\", \"%s\")\n"
                   "sources = [os.path.join(\"kernels\", name) for name in sorted(os.listdir(\"kernels\")) if name.endswith((\".cu\", \".cpp\"))]\n"
                   "setup(ext_modules=[CUDAExtension(\"%s._kernels\", sources, extra_compile_args={\"cxx\": [\"-O2\"], \"nvcc\": [\"-O3\"]})],\n"
                   "      cmdclass={\"build_ext\": BuildExtension})\n",
                   package->architecture, package->name);
}

void rkb_export_package_entry(rkb_text_t *out) {
   rkb_text_add(out, "/* Makes the library importable; loading it registers the operators. */\n#include <Python.h>\n\n"
                     "PyMODINIT_FUNC PyInit__kernels(void) {\n"
                     "   static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, \"_kernels\", nullptr, -1, nullptr,\n"
                     "                                       nullptr, nullptr, nullptr, nullptr};\n"
                     "   return PyModule_Create(&module);\n}\n");
}

static void write_domain(const rkb_export_package_t *package, rkb_text_t *out) {
   for (uint32_t i = 0; i < package->dim_count; i++) {
      const rkb_export_dim_t *dim = &package->dims[i];
      if (!dim->choice_count) {
         rkb_text_format(out, "| `%s` | %lld to %lld", dim->name, (long long)dim->low, (long long)dim->high);
         if (dim->multiple_of > 1)
            rkb_text_format(out, ", a multiple of %lld", (long long)dim->multiple_of);
      } else {
         rkb_text_format(out, "| `%s` | one of", dim->name);
         for (uint32_t k = 0; k < dim->choice_count; k++)
            rkb_text_format(out, " %lld", (long long)dim->choices[k]);
      }
      rkb_text_add(out, " |\n");
   }
   for (uint32_t i = 0; i < package->attribute_count; i++)
      rkb_text_format(out, "| `%s` | %.6g to %.6g |\n", package->attributes[i].name, package->attributes[i].least,
                      package->attributes[i].greatest);
   for (const char *const *require = package->require; *require; require++)
      rkb_text_format(out, "| condition | `%s` |\n", *require);
}

void rkb_export_package_readme(const rkb_export_package_t *package, rkb_text_t *out) {
   rkb_text_format(out,
                   "# %s\n\n%s\n\nWritten by rkb %s. Build and install it with the PyTorch that you will use:\n\n"
                   "    pip wheel . --no-build-isolation\n\n"
                   "    from %s import %s\n\n"
                   "The function takes the reference's tensors and attributes. Where the kernels were verified, it calls them: CUDA tensors of the task's\n"
                   "types, with sizes and attributes in this domain. Elsewhere it calls `reference.py`, PyTorch's own operations.\n\n"
                   "| what | values |\n|---|---|\n",
                   package->name, package->summary, package->version, package->name, package->task);
   write_domain(package, out);
   if (package->attribute_count)
      rkb_text_add(out, "\nAn attribute was verified at its choices, of which these are the least and the greatest.\n");
   rkb_text_add(out, "\nAn input that is not contiguous, or that does not begin at a multiple of\n"
                     "256 bytes, is copied first. The kernels run on the current stream. ");
   bool backward = false;
   for (uint32_t i = 0; i < package->kernel_count; i++)
      backward |= strcmp(package->kernels[i].subject->direction, "backward") == 0;
   rkb_text_add(out, backward ? "They have a gradient of their own; it cannot be differentiated again.\n"
                              : "There is no backward kernel: where a gradient is wanted, the reference is called.\n");
   rkb_text_add(out, "\n| operator | kernel | for |\n|---|---|---|\n");
   for (uint32_t i = 0; i < package->kernel_count; i++)
      rkb_text_format(out, "| `%s` | %s | %s |\n", package->kernels[i].subject->operator_name, package->kernels[i].subject->file,
                      package->kernels[i].when ? package->kernels[i].when : "all other sizes");
}
